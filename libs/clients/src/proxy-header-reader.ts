import type { Socket } from 'node:net';
import type { ClientAddress } from './client-address.js';
import type { Connection } from './connection.js';
import { mayBeProxyHeader, PARTIAL_PROXY_HEADER, readProxyHeader } from './proxy-header.js';

export interface ProxyHeaderReaderOptions {
  readonly socket: Socket;
  /** The sender; becomes whom the header names. */
  readonly client: ClientAddress;
  readonly nowMs: number;
  /** Whether a connection may begin without a header: then the sender stays the client. By default it may not. */
  readonly isOptional?: boolean;
  /** The client is known; what came behind the header, or instead of one, waits in the socket. */
  readonly onClient: () => void;
  /** There is no sound header, or none where there must be one. */
  readonly onError: () => void;
}

/**
 * A connection of a load balancer until its PROXY header is read, which comes before everything, TLS included.
 * Where the header is optional, the first byte that is not of its signature tells that there is none.
 */
export class ProxyHeaderReader implements Connection {
  readonly lastActiveMs: number;
  private received: Buffer = Buffer.alloc(0);

  constructor(private readonly options: ProxyHeaderReaderOptions) {
    this.lastActiveMs = options.nowMs;
    const { socket } = options;
    socket.on('readable', this.onReadable).on('end', this.destroy).on('error', this.destroy);
  }

  drain(): void {
    this.destroy();
  }

  readonly destroy = (): void => {
    this.options.socket.destroy();
  };

  private readonly onReadable = (): void => {
    const { socket, client, isOptional = false, onClient, onError } = this.options;
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    this.received = Buffer.concat([this.received, chunk]);
    const { received } = this;
    const isAbsent = isOptional && !mayBeProxyHeader(received, received.length);
    const headerBytes = isAbsent ? 0 : readProxyHeader(received, received.length, client);
    if (headerBytes === PARTIAL_PROXY_HEADER && !isAbsent) return;
    socket.off('readable', this.onReadable).off('end', this.destroy).off('error', this.destroy);
    if (headerBytes < 0) return onError();
    const rest = received.subarray(headerBytes);
    if (rest.length > 0) socket.unshift(rest);
    onClient();
  };
}
