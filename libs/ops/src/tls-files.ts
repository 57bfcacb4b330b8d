import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
 * Reads certificate and key at a start; null when neither file is given. It may block the process.
 * @throws StartError that names the variable: a file is missing or not PEM of its kind, or the two do not match.
 */
export function readTlsFiles(names: TlsFileNames): TlsFiles | null {
  const paths = pathsOf(names);
  if (paths === null) return null;
  const read = (path: string, variable: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw unreadable(path, variable, error);
    }
  };
  const files = {
    cert: read(paths.cert, `${names.prefix}_CERT`),
    key: read(paths.key, `${names.prefix}_KEY`),
  };
  return verify(files, names.prefix);
}

/** As `readTlsFiles`, for a process that serves: it waits for the disk without blocking anything else. */
export async function rereadTlsFiles(names: TlsFileNames): Promise<TlsFiles | null> {
  const paths = pathsOf(names);
  if (paths === null) return null;
  const read = (path: string, variable: string): Promise<string> =>
    readFile(path, 'utf8').catch((error: unknown) => {
      throw unreadable(path, variable, error);
    });
  // One after the other: files on a disk that hangs hold one of Node's few threads for files, not two.
  const cert = await read(paths.cert, `${names.prefix}_CERT`);
  const key = await read(paths.key, `${names.prefix}_KEY`);
  return verify({ cert, key }, names.prefix);
}

/** Both paths; null when neither is given. */
function pathsOf({ prefix, cert, key }: TlsFileNames): { cert: string; key: string } | null {
  if (cert === undefined && key === undefined) return null;
  const [certName, keyName] = [`${prefix}_CERT`, `${prefix}_KEY`];
  if (cert === undefined) throw new StartError(`${certName} must be given with ${keyName}`);
  if (key === undefined) throw new StartError(`${keyName} must be given with ${certName}`);
  return { cert, key };
}

function verify(files: TlsFiles, prefix: string): TlsFiles {
  const [certName, keyName] = [`${prefix}_CERT`, `${prefix}_KEY`];
  const certificate = parse(() => new X509Certificate(files.cert), certName, 'certificate');
  const privateKey = parse(() => createPrivateKey(files.key), keyName, 'private key');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`${keyName} is not the key of the certificate of ${certName}`);
  }
  return files;
}

function unreadable(path: string, variable: string, cause: unknown): StartError {
  const { code } = cause as { code?: string };
  return new StartError(`${variable} names a file that cannot be read: ${path} (${code})`, {
    cause,
  });
}

function parse<T>(make: () => T, variable: string, what: string): T {
  try {
    return make();
  } catch (cause) {
    throw new StartError(`${variable} must name a PEM file with an unencrypted ${what}`, { cause });
  }
}
