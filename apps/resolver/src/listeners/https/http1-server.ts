import { createServer, type Server } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { Http1Call } from './http-call.js';
import type { HttpsConnection } from './https-connection.js';

/** Speaks HTTP/1.1 on connections that are handed to it; it listens nowhere. */
export class Http1Server {
  private readonly connections = new WeakMap<object, HttpsConnection>();
  private readonly server: Server;

  constructor() {
    this.server = createServer({ maxHeaderSize: 16_384 }, (request, response) => {
      this.connections.get(request.socket)?.take(new Http1Call(request, response));
    });
    // Bounded by the connection.
    this.server.keepAliveTimeout = 0;
  }

  readonly speak = (socket: TLSSocket, connection: HttpsConnection): void => {
    this.connections.set(socket, connection);
    this.server.emit('connection', socket);
  };
}
