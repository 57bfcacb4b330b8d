import { createServer, type Server } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { Http1Call, MAX_HEADER_BYTES } from './http-call.js';
import type { HttpsConnection } from './https-connection.js';

/** Speaks HTTP/1.1 on connections that are passed to it. It does not listen itself. */
export class Http1Server {
  private readonly connections = new WeakMap<object, HttpsConnection>();
  private readonly server: Server;

  constructor() {
    this.server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
      const { socket } = request;
      // Node goes on with what it has read when the connection is closed.
      if (!socket.destroyed) this.connections.get(socket)?.take(new Http1Call(request, response));
    });
    // The connection has its own idle limit.
    this.server.keepAliveTimeout = 0;
  }

  readonly speak = (socket: TLSSocket, connection: HttpsConnection): void => {
    this.connections.set(socket, connection);
    this.server.emit('connection', socket);
  };
}
