import { StartError } from '@weir/ops';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';

/**
 * TLS for clients that trust only the certificate authorities of the file, or those of Node.js without a file.
 * @throws StartError when the file cannot be read or has no certificate
 */
export function trustedAuthorities(file: string | undefined): SecureContext | undefined {
  if (file === undefined) return undefined;
  try {
    const ca = readFileSync(file);
    // Throws when there is none; the context ignores such a file.
    new X509Certificate(ca);
    return createSecureContext({ ca });
  } catch (error) {
    throw new StartError(`UPSTREAM_TLS_CA is not usable: ${String(error)}`);
  }
}
