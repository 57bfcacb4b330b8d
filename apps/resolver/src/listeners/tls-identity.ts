import { readTlsFiles, rereadTlsFiles, type TlsFileNames, type TlsFiles } from '@weir/ops';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { ListenerLog } from './listener-log.js';

const CHECK_MS = 10_000;

export interface TlsIdentityOptions {
  readonly names: TlsFileNames;
  readonly log: ListenerLog;
  /** Interval between checks of the files. */
  readonly checkMs?: number;
}

/**
 * The TLS certificate of the server and its key. The files are checked regularly. A renewed certificate is used for the
 * next client, without a restart. Files that do not match, as between two writes, change nothing.
 */
export class TlsIdentity {
  private files: TlsFiles;
  private context: SecureContext;
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
    this.context = contextOf(files);
    this.timer = setInterval(() => {
      void this.check();
    }, options.checkMs ?? CHECK_MS);
    this.timer.unref();
  }

  /** Starts TLS on a connection, as the server. @param protocols for ALPN, best first */
  accept(socket: Socket, protocols: string[]): TLSSocket {
    // The TLS socket ends with this one; 'close' of both follows.
    socket.on('error', () => socket.destroy());
    const { context: secureContext } = this;
    return new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: protocols });
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    const { names, log } = this.options;
    // The disk may have not answered the check before.
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      const files = (await rereadTlsFiles(names)) ?? this.files;
      if (files.cert === this.files.cert && files.key === this.files.key) return;
      this.context = contextOf(files);
      this.files = files;
      this.lastFault = '';
      log.info({}, 'a new certificate is in use');
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== this.lastFault) log.warn({ reason }, 'the certificate was not replaced');
      this.lastFault = reason;
    } finally {
      this.isChecking = false;
    }
  }
}

function contextOf({ cert, key }: TlsFiles): SecureContext {
  return createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
}
