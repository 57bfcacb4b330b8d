import { createPrivateKey, X509Certificate } from 'node:crypto';
import { StartError } from '../start-error.js';
import type { NamedFile } from '../watched-files.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM file of authorities. TLS itself ignores what is none, and would trust nobody then.
 * @throws StartError that names the variable: there is none, or one cannot be read
 */
export function parseAuthorities(text: string, variable: string): readonly X509Certificate[] {
  const readAll = () => {
    const blocks = text.match(CERTIFICATE);
    if (blocks === null) throw new Error('there is none');
    return blocks.map((block) => new X509Certificate(block));
  };
  return parse(readAll, variable, 'certificates of authorities');
}

/**
 * Paths of the files. Their variables are named `<prefix>_CERT`, `<prefix>_KEY` and `<prefix>_CLIENT_CA`. Without the
 * last one clients need no certificate.
 */
export interface TlsFileNames {
  readonly prefix: string;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly clientCa?: string | undefined;
}

/** Certificate, key, and authorities of clients if they are given; null: nothing is. @throws StartError */
export function tlsFilesOf({ prefix, cert, key, clientCa }: TlsFileNames): NamedFile[] | null {
  if (cert === undefined && key === undefined && clientCa === undefined) return null;
  const [certName, keyName, clientCaName] = variablesOf(prefix);
  const other = key === undefined ? clientCaName : keyName;
  if (cert === undefined) throw new StartError(`${certName} must be given with ${other}`);
  if (key === undefined) throw new StartError(`${keyName} must be given with ${certName}`);
  const pair = [
    { variable: certName, path: cert },
    { variable: keyName, path: key },
  ];
  return clientCa === undefined ? pair : [...pair, { variable: clientCaName, path: clientCa }];
}

/**
 * @param cert the certificate chain of the server, in PEM as the others.
 * @param clientCa certificates of the authorities that clients' certificates must come from.
 * @returns the certificate of the server
 * @throws StartError that names the variable: a file is not PEM of its kind, or two do not match.
 */
export function verifyTlsFiles(
  prefix: string,
  cert: string,
  key: string,
  clientCa: string | undefined,
): X509Certificate {
  const [certName, keyName, clientCaName] = variablesOf(prefix);
  const certificate = parse(
    () => new X509Certificate(cert),
    certName,
    'an unencrypted certificate',
  );
  const privateKey = parse(() => createPrivateKey(key), keyName, 'an unencrypted private key');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`${keyName} is not the key of the certificate of ${certName}`);
  }
  if (clientCa !== undefined) parseAuthorities(clientCa, clientCaName);
  return certificate;
}

function variablesOf(prefix: string): [cert: string, key: string, clientCa: string] {
  return [`${prefix}_CERT`, `${prefix}_KEY`, `${prefix}_CLIENT_CA`];
}

function parse<T>(make: () => T, variable: string, what: string): T {
  try {
    return make();
  } catch (cause) {
    throw new StartError(`${variable} must name a PEM file with ${what}`, { cause });
  }
}
