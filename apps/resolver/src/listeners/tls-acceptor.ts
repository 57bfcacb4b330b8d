import { constants, createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';

/** The certificate chain of a server and its private key, in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Starts TLS on connections, as the server. Acceptors with the same secret and the same certificate resume the sessions
 * of each other (RFC 5077, RFC 8446 §2.2).
 */
export class TlsAcceptor {
  private secureContext: SecureContext | undefined;

  /** @param secret random bytes */
  constructor(private readonly secret: Uint8Array) {}

  /** From now on it has this certificate, for the next client. Sessions of the one before end with it. */
  use({ cert, key }: TlsPair): void {
    // 48 bytes, as Node.js wants them.
    const ticketKeys = createHmac('sha384', this.secret).update(cert).digest();
    // No client of TLS 1.2 gets a second handshake (RFC 9113 §9.2.1), which no limit would count.
    const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
    const options = { cert, key, minVersion: 'TLSv1.2', ticketKeys, secureOptions } as const;
    this.secureContext = createSecureContext(options);
  }

  /** After `use`. @param protocols for ALPN, best first */
  accept(socket: Socket, protocols: string[]): TLSSocket {
    // The TLS socket ends with this one; 'close' of both follows.
    socket.on('error', () => socket.destroy());
    const { secureContext } = this;
    return new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: protocols });
  }
}
