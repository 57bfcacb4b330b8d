import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { StartError } from '../process.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM file of authorities. TLS itself ignores what is none, and would trust nobody then.
 * @throws StartError that names the variable: there is none, or one cannot be read
 */
export function parseAuthorities(text: string, variable: string): readonly X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw notAuthorities(variable, cause);
  }
  throw notAuthorities(variable);
}

function notAuthorities(variable: string, cause?: unknown): StartError {
  return new StartError(`${variable} must name a PEM file with certificates of authorities`, {
    cause,
  });
}

/** PEM texts by part. */
export interface TlsFiles {
  /** The certificate chain of the server. */
  readonly cert: string;
  readonly key: string;
  /** Certificates of the authorities that clients' certificates must come from. Unset: clients need none. */
  readonly clientCa?: string;
}

/** Paths of the files. Their variables are named `<prefix>_CERT`, `<prefix>_KEY` and `<prefix>_CLIENT_CA`. */
export interface TlsFileNames {
  readonly prefix: string;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly clientCa?: string | undefined;
}

type Part = keyof TlsFiles;
type Paths = readonly (readonly [part: Part, path: string])[];

const SUFFIXES: Readonly<Record<Part, string>> = {
  cert: '_CERT',
  key: '_KEY',
  clientCa: '_CLIENT_CA',
};

/**
 * Reads the files at a start; null when none is given. It may block the process.
 * @throws StartError that names the variable: a file is missing or not PEM of its kind, or two do not match.
 */
export function readTlsFiles(names: TlsFileNames): TlsFiles | null {
  const paths = pathsOf(names);
  if (paths === null) return null;
  const texts: Partial<Record<Part, string>> = {};
  for (const [part, path] of paths) {
    try {
      texts[part] = readFileSync(path, 'utf8');
    } catch (error) {
      throw unreadable(path, names.prefix + SUFFIXES[part], error);
    }
  }
  return verifyTlsFiles(texts as TlsFiles, names.prefix);
}

/**
 * Reads the files of a process that serves: it waits for the disk without blocking anything else.
 * It does not verify them.
 * @throws StartError that names the variable of a file that cannot be read
 */
export async function rereadTlsFiles(names: TlsFileNames): Promise<TlsFiles> {
  const paths = pathsOf(names) ?? [];
  const texts: Partial<Record<Part, string>> = {};
  // One after the other: files on a disk that hangs hold one of Node's few threads for files, not several.
  for (const [part, path] of paths) {
    texts[part] = await readFile(path, 'utf8').catch((error: unknown) => {
      throw unreadable(path, names.prefix + SUFFIXES[part], error);
    });
  }
  return texts as TlsFiles;
}

/** Null when no path is given. */
function pathsOf({ prefix, cert, key, clientCa }: TlsFileNames): Paths | null {
  if (cert === undefined && key === undefined && clientCa === undefined) return null;
  const [certName, keyName] = [`${prefix}_CERT`, `${prefix}_KEY`];
  const other = key === undefined ? `${prefix}_CLIENT_CA` : keyName;
  if (cert === undefined) throw new StartError(`${certName} must be given with ${other}`);
  if (key === undefined) throw new StartError(`${keyName} must be given with ${certName}`);
  const pair: Paths = [
    ['cert', cert],
    ['key', key],
  ];
  return clientCa === undefined ? pair : [...pair, ['clientCa', clientCa]];
}

/** @throws StartError that names the variable: a file is not PEM of its kind, or two do not match. */
export function verifyTlsFiles(files: TlsFiles, prefix: string): TlsFiles {
  const [certName, keyName] = [`${prefix}_CERT`, `${prefix}_KEY`];
  const certificate = parse(() => new X509Certificate(files.cert), certName, 'certificate');
  const privateKey = parse(() => createPrivateKey(files.key), keyName, 'private key');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`${keyName} is not the key of the certificate of ${certName}`);
  }
  if (files.clientCa !== undefined) parseAuthorities(files.clientCa, `${prefix}_CLIENT_CA`);
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
