import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { settle, type WatchedFileLog } from '../watched-file.js';
import {
  readTlsFiles,
  rereadTlsFiles,
  type TlsFileNames,
  type TlsFiles,
  verifyTlsFiles,
} from './tls-files.js';

const CHECK_MS = 10_000;

export interface TlsIdentityOptions {
  readonly names: TlsFileNames;
  readonly log: WatchedFileLog;
  /** Interval between checks of the files. */
  readonly checkMs?: number;
}

interface ContextOptions {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: 'TLSv1.2';
  readonly ca?: string;
}

/** Options of an HTTPS server, under the names of Node.js. */
export interface ServerTlsOptions extends ContextOptions {
  /** Whether clients need a certificate. */
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
}

/** An HTTPS server, as far as it is needed here. */
interface SecureServer {
  setSecureContext(options: ContextOptions): void;
}

/**
 * The TLS certificate of a server, its key, and the authorities of its clients if they need certificates. The files are
 * checked regularly. What was renewed is used for the next client, without a restart, when nobody writes to the files
 * any more. Files that cannot be used together change nothing.
 */
export class TlsIdentity {
  /** Number of checks at which the files were not usable. */
  faults = 0;
  private files: TlsFiles;
  private context;
  private server: SecureServer | null = null;
  private lastFault = '';
  private isChecking = false;
  private readonly timer: NodeJS.Timeout;

  /** @throws StartError when the files are not usable, see `readTlsFiles`. */
  static open(options: TlsIdentityOptions): TlsIdentity | null {
    const files = readTlsFiles(options.names);
    return files === null ? null : new TlsIdentity(options, files);
  }

  private constructor(
    private readonly options: TlsIdentityOptions,
    files: TlsFiles,
  ) {
    this.files = files;
    this.context = createSecureContext(contextOptions(files));
    this.timer = setInterval(() => {
      void this.check();
    }, options.checkMs ?? CHECK_MS);
    this.timer.unref();
  }

  /** The files in use. */
  get current(): TlsFiles {
    return this.files;
  }

  /** Starts TLS on a connection, as the server. @param protocols for ALPN, best first */
  accept(socket: Socket, protocols: string[]): TLSSocket {
    // The TLS socket ends with this one; 'close' of both follows.
    socket.on('error', () => socket.destroy());
    const { context: secureContext } = this;
    return new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: protocols });
  }

  /** The options that an HTTPS server starts with. It needs `attach` to use later files. */
  serverOptions(): ServerTlsOptions {
    const needsCertificate = this.files.clientCa !== undefined;
    return {
      ...contextOptions(this.files),
      requestCert: needsCertificate,
      rejectUnauthorized: needsCertificate,
    };
  }

  /** The server uses changed files from now on. */
  attach(server: SecureServer): void {
    this.server = server;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    const { log, names } = this.options;
    // The disk may have not answered the check before.
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      if (await this.load()) log.info({ files: names.prefix }, 'a new certificate is in use');
      this.lastFault = '';
    } catch (error) {
      this.faults++;
      const reason = (error as Error).message;
      if (reason !== this.lastFault) log.warn({ reason }, 'the certificate was not replaced');
      this.lastFault = reason;
    } finally {
      this.isChecking = false;
    }
  }

  /** @returns whether the files have changed. @throws when they cannot be read or used */
  private async load(): Promise<boolean> {
    const { names, checkMs } = this.options;
    const files = await rereadTlsFiles(names);
    if (isSame(files, this.files)) return false;
    await settle(checkMs);
    if (!isSame(await rereadTlsFiles(names), files)) return false;
    this.use(verifyTlsFiles(files, names.prefix));
    return true;
  }

  private use(files: TlsFiles): void {
    this.context = createSecureContext(contextOptions(files));
    this.server?.setSecureContext(contextOptions(files));
    this.files = files;
  }
}

function contextOptions({ cert, key, clientCa }: TlsFiles): ContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(clientCa !== undefined && { ca: clientCa }) };
}

function isSame(one: TlsFiles, other: TlsFiles): boolean {
  return one.cert === other.cert && one.key === other.key && one.clientCa === other.clientCa;
}
