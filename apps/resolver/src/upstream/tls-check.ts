import { publicKeyPin, type TlsPeer } from '@weir/ops';
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls';

/** The upstream has not proven that it is the one that was configured. */
class PinFault extends Error {
  readonly code = 'PIN_MISMATCH';
}

/** The options by which Node.js checks a name. A pin takes the place of all that: see `pinFault`. */
export function checkOptions(peer: TlsPeer, secureContext?: SecureContext): ConnectionOptions {
  const check =
    'name' in peer
      ? { servername: peer.name, rejectUnauthorized: true }
      : { rejectUnauthorized: false };
  return { ...check, ...(secureContext && { secureContext }) };
}

/** @returns what is wrong with the public key, null for a peer with a name, which is checked already */
export function pinFault(socket: TLSSocket, peer: TlsPeer): Error | null {
  if ('name' in peer) return null;
  const pin = publicKeyPin(socket);
  return pin === peer.pin ? null : new PinFault(`the pin of its public key is ${pin}`);
}

/** Whether TLS failed, and not the network: the certificate is not accepted, or there is no common ground. */
export function isTlsFault(error: Error, socket: TLSSocket, peer: TlsPeer): boolean {
  if (error instanceof PinFault) return true;
  const { code } = error as NodeJS.ErrnoException;
  // Node.js sets it to null while all is well, whatever its types say. For a pin it says nothing.
  const hasBadCertificate = 'name' in peer && Boolean(socket.authorizationError as unknown);
  return hasBadCertificate || code?.startsWith('ERR_SSL_') === true;
}
