import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/** SHA-256 of the SubjectPublicKeyInfo of the server, in base64 (RFC 7858 §4.2); `none` without a certificate. */
export function publicKeyPin(socket: TLSSocket): string {
  const key = socket.getPeerX509Certificate()?.publicKey.export({ type: 'spki', format: 'der' });
  return key === undefined ? 'none' : createHash('sha256').update(key).digest('base64');
}
