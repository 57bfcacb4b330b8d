import { type AddressWords, CidrSet, InvalidCidrError, StartError } from '@weir/ops';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const CHECK_MS = 10_000;

/** Where changes of the file are logged. */
export interface AllowedClientsLog {
  info(details: object, text: string): void;
  warn(details: object, text: string): void;
}

export interface AllowedClientsOptions {
  /** Used without a file. */
  readonly networks: CidrSet;
  /** One network a line; `#` begins a comment. */
  readonly file: string | undefined;
  readonly log: AllowedClientsLog;
  /** Interval between checks of the file. */
  readonly checkMs?: number;
}

/**
 * The clients that are served without a profile. A file is checked regularly. A changed one is used without a restart;
 * one that is not usable changes nothing.
 */
export class AllowedClients {
  /** Number of checks at which the file was not usable. */
  faults = 0;
  private networks: CidrSet;
  private text: string | null = null;
  private lastFault = '';
  private isChecking = false;
  private readonly timer: NodeJS.Timeout | undefined;

  /** @throws StartError when the file is not usable. */
  constructor(private readonly options: AllowedClientsOptions) {
    const { file, networks, checkMs = CHECK_MS } = options;
    this.networks = networks;
    if (file === undefined) return;
    try {
      this.use(readFileSync(file, 'utf8'));
    } catch (error) {
      throw new StartError(`DNS_ALLOWED_CLIENTS_FILE: ${reasonOf(error, file)}`, { cause: error });
    }
    this.timer = setInterval(() => {
      void this.check(file);
    }, checkMs);
    this.timer.unref();
  }

  has(client: AddressWords): boolean {
    return this.networks.has(client);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async check(file: string): Promise<void> {
    const { log } = this.options;
    // The disk may have not answered the check before.
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      if (this.use(await readFile(file, 'utf8')))
        log.info({ file }, 'new allowed clients are in force');
      this.lastFault = '';
    } catch (error) {
      this.faults++;
      const reason = reasonOf(error, file);
      if (reason !== this.lastFault) log.warn({ reason }, 'the allowed clients were not replaced');
      this.lastFault = reason;
    } finally {
      this.isChecking = false;
    }
  }

  /** @returns whether the text is a new one. @throws when it has something other than networks */
  private use(text: string): boolean {
    if (text === this.text) return false;
    const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
    const networks = lines.filter((line) => line !== '');
    // An empty file is rather one that is being written than a wish to refuse everybody.
    if (networks.length === 0) throw new InvalidCidrError('no network');
    this.networks = CidrSet.parse(networks);
    this.text = text;
    return true;
  }
}

function reasonOf(error: unknown, file: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? `${file}: ${message}` : `${file} cannot be read (${code})`;
}
