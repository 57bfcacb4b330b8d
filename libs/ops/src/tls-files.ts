import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartError } from './process.js';

/** Certificate chain and private key in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Paths of the two files. Their variables are named `<prefix>_CERT` and `<prefix>_KEY`. */
export interface TlsFileNames {
  readonly prefix: string;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/**
 * Reads certificate and key; null when neither file is given.
 * @throws StartError that names the variable: a file is missing or not PEM of its kind, or the two do not match.
 */
export function readTlsFiles({ prefix, cert, key }: TlsFileNames): TlsFiles | null {
  const [certName, keyName] = [`${prefix}_CERT`, `${prefix}_KEY`];
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined) throw new StartError(`${certName} must be given with ${keyName}`);
  if (key === undefined) throw new StartError(`${keyName} must be given with ${certName}`);
  const files = { cert: read(cert, certName), key: read(key, keyName) };
  const certificate = parse(() => new X509Certificate(files.cert), certName, 'certificate');
  const privateKey = parse(() => createPrivateKey(files.key), keyName, 'private key');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`${keyName} is not the key of the certificate of ${certName}`);
  }
  return files;
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
