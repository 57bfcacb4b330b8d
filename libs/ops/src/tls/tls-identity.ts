import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type Server } from 'node:tls';
import { type NamedFile, WatchedFiles, type WatchedFilesLog } from '../watched-files.js';
import { StartError } from '../start-error.js';

const MAX_FILE_BYTES = 2 ** 20;

export interface TlsIdentityOptions {
  /**
   * Paths of the files. Their variables are named `<prefix>_CERT`, `<prefix>_KEY` and `<prefix>_CLIENT_CA`. Without the
   * last one clients need no certificate.
   */
  readonly names: {
    readonly prefix: string;
    /** The certificate chain of the server, in PEM as the others. */
    readonly cert: string | undefined;
    readonly key: string | undefined;
    /** Certificates of the authorities that clients' certificates must come from. */
    readonly clientCa?: string | undefined;
  };
  readonly log: WatchedFilesLog;
  readonly checkMs?: number;
}

interface Identity {
  /** Under the names of Node.js. */
  readonly options: {
    readonly cert: string;
    readonly key: string;
    readonly minVersion: 'TLSv1.2';
    readonly ca?: string;
  };
  readonly expiresMs: number;
}

/**
 * The TLS certificate of a server, its key, and the authorities of its clients if they need certificates. What was
 * renewed is used for the next client, without a restart (`WatchedFiles`).
 */
export class TlsIdentity {
  private server: Pick<Server, 'setSecureContext'> | null = null;
  private readonly files: WatchedFiles<Identity>;

  /** Null without a certificate and its key. @throws StartError that names the variable of what is not usable */
  static open(options: TlsIdentityOptions): TlsIdentity | null {
    const { prefix, cert, key, clientCa } = options.names;
    if (cert === undefined || key === undefined) return null;
    const files = [
      { variable: `${prefix}_CERT`, path: cert },
      { variable: `${prefix}_KEY`, path: key },
    ];
    if (clientCa !== undefined) files.push({ variable: `${prefix}_CLIENT_CA`, path: clientCa });
    return new TlsIdentity(options, files);
  }

  private constructor({ names, log, checkMs }: TlsIdentityOptions, files: readonly NamedFile[]) {
    const [certName, keyName] = [`${names.prefix}_CERT`, `${names.prefix}_KEY`];
    this.files = new WatchedFiles({
      files,
      maxBytes: MAX_FILE_BYTES,
      parse: (cert, key, clientCa?: string) => {
        const certificate = parsePem(
          () => new X509Certificate(cert),
          certName,
          'an unencrypted certificate',
        );
        const privateKey = parsePem(
          () => createPrivateKey(key),
          keyName,
          'an unencrypted private key',
        );
        if (!certificate.checkPrivateKey(privateKey))
          throw new StartError(`${keyName} is not the key of the certificate of ${certName}`);
        if (clientCa !== undefined) parseAuthorities(clientCa, `${names.prefix}_CLIENT_CA`);
        const options: Identity['options'] = {
          ...{ cert, key, minVersion: 'TLSv1.2' },
          ...(clientCa !== undefined && { ca: clientCa }),
        };
        // Throws when OpenSSL cannot use them.
        createSecureContext(options);
        return { options, expiresMs: certificate.validToDate.getTime() };
      },
      content: 'the certificate and its key',
      log,
      checkMs,
      onChange: ({ options }) => this.server?.setSecureContext(options),
    });
  }

  get faults(): number {
    return this.files.faults;
  }

  /** When the certificate in use expires (Unix time). */
  get expiresMs(): number {
    return this.files.value.expiresMs;
  }

  /** The options that an HTTPS server starts with. It needs `attach` to use later files. */
  serverOptions(): Identity['options'] & { requestCert: boolean; rejectUnauthorized: boolean } {
    const { options } = this.files.value;
    const needsCertificate = options.ca !== undefined;
    return { ...options, requestCert: needsCertificate, rejectUnauthorized: needsCertificate };
  }

  /** The server uses changed files from now on. */
  attach(server: Pick<Server, 'setSecureContext'>): void {
    this.server = server;
  }

  close(): void {
    this.files.close();
  }
}

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
  return parsePem(readAll, variable, 'certificates of authorities');
}

/** @throws StartError that names the variable, when `make` throws */
function parsePem<T>(make: () => T, variable: string, what: string): T {
  try {
    return make();
  } catch (cause) {
    throw new StartError(`${variable} must name a PEM file with ${what}`, { cause });
  }
}
