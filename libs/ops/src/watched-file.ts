import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from './process.js';

const CHECK_MS = 10_000;
const SETTLE_MS = 1000;

/** Where changes of the file are logged. */
export interface WatchedFileLog {
  info(details: object, text: string): void;
  warn(details: object, text: string): void;
}

export interface WatchedFileOptions<T> {
  /** The variable that names the file. */
  readonly variable: string;
  readonly file: string;
  /** A larger file is refused. */
  readonly maxBytes: number;
  /** @throws an error that says why the text cannot be used */
  readonly parse: (text: string) => T;
  /** What the file has, for log lines: "the allowed clients". */
  readonly content: string;
  readonly log: WatchedFileLog;
  /** Interval between checks of the file. */
  readonly checkMs?: number;
  /** Called when a new version is in force. */
  readonly onChange?: (value: T) => void;
}

/**
 * A file that is checked regularly. A changed one is used without a restart, when nobody writes to it any more.
 * One that cannot be used is refused whole and changes nothing.
 */
export class WatchedFile<T> {
  /** Number of checks at which the file was not usable. */
  faults = 0;
  /** What the last usable file has. */
  value: T;
  /** The text that it was parsed from. */
  private text: string;
  private lastFault = '';
  private isChecking = false;
  private readonly timer: NodeJS.Timeout;

  /** @throws StartError when the file is not usable. */
  constructor(private readonly options: WatchedFileOptions<T>) {
    const { variable, file, parse, checkMs = CHECK_MS } = options;
    try {
      this.checkSize(statSync(file).size);
      this.text = readFileSync(file, 'utf8');
      this.value = parse(this.text);
    } catch (error) {
      throw new StartError(`${variable}: ${this.reasonOf(error)}`, { cause: error });
    }
    this.timer = setInterval(() => void this.check(), checkMs);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    // The disk may not have answered the check before.
    if (this.isChecking) return;
    this.isChecking = true;
    const { log, file, content } = this.options;
    try {
      if (await this.load()) log.info({ file }, `a new version of ${content} is in force`);
      this.lastFault = '';
    } catch (error) {
      this.faults++;
      const reason = this.reasonOf(error);
      if (reason !== this.lastFault) log.warn({ reason }, `${content} were not replaced`);
      this.lastFault = reason;
    } finally {
      this.isChecking = false;
    }
  }

  /** @returns whether the file has changed. @throws when it cannot be read or used */
  private async load(): Promise<boolean> {
    const { parse, onChange, checkMs } = this.options;
    const { text, mtimeMs } = await this.read();
    if (text === this.text) return false;
    await settle(checkMs);
    const later = await this.read();
    if (later.text !== text || later.mtimeMs !== mtimeMs) return false;
    this.value = parse(text);
    this.text = text;
    onChange?.(this.value);
    return true;
  }

  private async read(): Promise<{ text: string; mtimeMs: number }> {
    const { file } = this.options;
    const { size, mtimeMs } = await stat(file);
    this.checkSize(size);
    return { text: await readFile(file, 'utf8'), mtimeMs };
  }

  private checkSize(bytes: number): void {
    const { maxBytes } = this.options;
    if (bytes > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
  }

  private reasonOf(error: unknown): string {
    const { file } = this.options;
    const { code, message } = error as NodeJS.ErrnoException;
    return code === undefined ? `${file}: ${message}` : `${file} cannot be read (${code})`;
  }
}

/** Waits before a changed file is read again. One that differs then is still being written, and is left for a while. */
export async function settle(checkMs = CHECK_MS): Promise<void> {
  await pause(Math.min(checkMs, SETTLE_MS), undefined, { ref: false });
}
