import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type Server, TLSSocket } from 'node:tls';
import { type NamedFile, WatchedFiles, type WatchedFilesLog } from '../watched-files.js';
import { type TlsFileNames, tlsFilesOf, verifyTlsFiles } from './tls-files.js';

const MAX_FILE_BYTES = 2 ** 20;

export interface TlsIdentityOptions {
  readonly names: TlsFileNames;
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
  readonly context: SecureContext;
  readonly expiresMs: number;
}

/**
 * The TLS certificate of a server, its key, and the authorities of its clients if they need certificates. What was
 * renewed is used for the next client, without a restart (`WatchedFiles`).
 */
export class TlsIdentity {
  private server: Pick<Server, 'setSecureContext'> | null = null;
  private readonly files: WatchedFiles<Identity>;

  /** Null when no file is given. @throws StartError that names the variable of what is missing or not usable */
  static open(options: TlsIdentityOptions): TlsIdentity | null {
    const files = tlsFilesOf(options.names);
    return files === null ? null : new TlsIdentity(options, files);
  }

  private constructor({ names, log, checkMs }: TlsIdentityOptions, files: readonly NamedFile[]) {
    this.files = new WatchedFiles({
      files,
      maxBytes: MAX_FILE_BYTES,
      parse: (cert, key, clientCa?: string) => {
        const { validToDate } = verifyTlsFiles(names.prefix, cert, key, clientCa);
        const ca = clientCa === undefined ? {} : { ca: clientCa };
        const options = { cert, key, minVersion: 'TLSv1.2', ...ca } as const;
        const expiresMs = validToDate.getTime();
        return { options, context: createSecureContext(options), expiresMs };
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

  /** Starts TLS on a connection, as the server. @param protocols for ALPN, best first */
  accept(socket: Socket, protocols: string[]): TLSSocket {
    // The TLS socket ends with this one; 'close' of both follows.
    socket.on('error', () => socket.destroy());
    const { context: secureContext } = this.files.value;
    return new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: protocols });
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
