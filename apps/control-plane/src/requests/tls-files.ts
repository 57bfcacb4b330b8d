import { StartError } from '@weir/ops';
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Certificate chain and private key in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

const CERT = 'MANAGEMENT_TLS_CERT';
const KEY = 'MANAGEMENT_TLS_KEY';

/**
 * Reads what https needs; null when neither file is given: then it is http.
 * @throws StartError in one line that names the variable, when a file is missing, no PEM of its kind, or they do not belong together.
 */
export function readTlsFiles(
  certFile: string | undefined,
  keyFile: string | undefined,
): TlsFiles | null {
  if (certFile === undefined && keyFile === undefined) return null;
  if (certFile === undefined) throw new StartError(`${CERT} must be given with ${KEY}`);
  if (keyFile === undefined) throw new StartError(`${KEY} must be given with ${CERT}`);
  const cert = read(certFile, CERT);
  const key = read(keyFile, KEY);
  const certificate = parse(() => new X509Certificate(cert), CERT, 'certificate');
  const privateKey = parse<KeyObject>(() => createPrivateKey(key), KEY, 'private key');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`${KEY} is not the key of the certificate of ${CERT}`);
  }
  return { cert, key };
}

function read(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as { code?: string };
    throw new StartError(`${variable} names a file that cannot be read: ${file} (${code})`, {
      cause,
    });
  }
}

function parse<T>(make: () => T, variable: string, what: string): T {
  try {
    return make();
  } catch (cause) {
    throw new StartError(`${variable} must name a PEM file with an unencrypted ${what}`, { cause });
  }
}
