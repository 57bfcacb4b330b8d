import type { Socket } from 'node:net';
import type { ClientAddress } from '@weir/policy';
import type { Connection } from './connections.js';
import { canBeProxyHeader, PARTIAL_PROXY_HEADER, readProxyHeader } from './proxy-header.js';

export interface ProxyHeaderReaderOptions {
  readonly socket: Socket;
  /** The sender. Becomes the client that the header names. */
  readonly client: ClientAddress;
  readonly nowMs: number;
  /** Whether a connection may begin without a header; the sender is then the client. Default: false. */
  readonly isOptional?: boolean;
  /** The client is known. The bytes after the header, or all bytes without one, are back in the socket. */
  readonly onClient: () => void;
  /** The header is malformed, or missing where it is required. */
  readonly onError: () => void;
}

/**
 * Reads the PROXY header of a connection from a load balancer. The header comes before everything else, TLS included.
 * Where it is optional, the first byte that does not match its signature means that there is none.
 */
export class ProxyHeaderReader implements Connection {
  readonly lastActiveMs: number;
  readonly isWaiting = false;
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
    const isAbsent = isOptional && !canBeProxyHeader(received, received.length);
    const headerBytes = isAbsent ? 0 : readProxyHeader(received, received.length, client);
    if (headerBytes === PARTIAL_PROXY_HEADER && !isAbsent) return;
    socket.off('readable', this.onReadable).off('end', this.destroy).off('error', this.destroy);
    if (headerBytes < 0) return onError();
    const rest = received.subarray(headerBytes);
    if (rest.length > 0) socket.unshift(rest);
    onClient();
  };
}
