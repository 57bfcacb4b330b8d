import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { StartError } from './start-error.js';

const CHECK_MS = 10_000;
/** Files that differ after this time are still being written, and are left for a while. */
const SETTLE_MS = 1000;
/** It skips the byte order mark that editors of Windows write. */
const UTF8 = new TextDecoder();

export interface WatchedFilesLog {
  info(details: object, text: string): void;
  warn(details: object, text: string): void;
}

export interface NamedFile {
  readonly variable: string;
  readonly path: string;
}

export interface WatchedFilesOptions<T> {
  readonly files: readonly NamedFile[];
  readonly maxBytes: number;
  /**
   * @param texts those of the files, in their order
   * @throws StartError that names the variable; any other error says what is wrong with the first file
   */
  readonly parse: (...texts: string[]) => T;
  /** What the files have, for log lines: "the allowed clients". */
  readonly content: string;
  readonly log: WatchedFilesLog;
  readonly checkMs?: number | undefined;
  readonly onChange?: (value: T) => void;
}

/** What files have, or a value that stays as it is. */
export interface Watched<T> {
  readonly value: T;
  /** Number of checks at which the files were not usable. */
  readonly faults: number;
  close(): void;
}

export interface WatchedFileOptions<T> extends Omit<WatchedFilesOptions<T>, 'files'> {
  readonly variable: string;
  /** What the variable names, if it is set. */
  readonly path: string | undefined;
  /** The value without a file. */
  readonly fixed: T;
}

/** The value that a file has, or else the fixed one. @throws StartError when the file is not usable */
export function watchFile<T>(options: WatchedFileOptions<T>): Watched<T> {
  const { variable, path, fixed, ...rest } = options;
  if (path === undefined) return { value: fixed, faults: 0, close: () => undefined };
  return new WatchedFiles({ ...rest, files: [{ variable, path }] });
}

/**
 * Files that belong together and are checked regularly. Changed ones are used without a restart, when nobody writes to
 * them any more. Files that cannot be used are refused as a whole and change nothing.
 */
export class WatchedFiles<T> implements Watched<T> {
  faults = 0;
  /** What the last usable files have. */
  value: T;
  /** What it was parsed from. */
  private texts: readonly string[];
  private lastFault = '';
  private isChecking = false;
  private readonly timer: NodeJS.Timeout;

  /** @throws StartError when the files are not usable. It may block the process. */
  constructor(private readonly options: WatchedFilesOptions<T>) {
    const { files, checkMs = CHECK_MS } = options;
    this.texts = files.map((file) => {
      try {
        this.checkSize(statSync(file.path).size);
        return UTF8.decode(readFileSync(file.path));
      } catch (error) {
        throw unusable(file, error);
      }
    });
    this.value = this.parse(this.texts);
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
    const { log, files, content } = this.options;
    try {
      if (await this.load()) log.info({ files }, `a new version of ${content} is in force`);
      this.lastFault = '';
    } catch (error) {
      this.faults++;
      const { message: reason } = error as Error;
      if (reason !== this.lastFault) log.warn({ reason }, `${content} were not replaced`);
      this.lastFault = reason;
    } finally {
      this.isChecking = false;
    }
  }

  /** @returns whether the files have changed. @throws when they cannot be read or used */
  private async load(): Promise<boolean> {
    const { onChange, checkMs = CHECK_MS } = this.options;
    const read = await this.read();
    if (isDeepStrictEqual(read.texts, this.texts)) return false;
    await pause(Math.min(checkMs, SETTLE_MS), undefined, { ref: false });
    if (!isDeepStrictEqual(await this.read(), read)) return false;
    this.value = this.parse(read.texts);
    this.texts = read.texts;
    onChange?.(this.value);
    return true;
  }

  private async read(): Promise<{ texts: string[]; changedMs: number[] }> {
    const texts: string[] = [];
    const changedMs: number[] = [];
    // One after the other: files on a disk that hangs hold one of Node's few threads for files, not several.
    for (const file of this.options.files) {
      try {
        const { size, mtimeMs } = await stat(file.path);
        this.checkSize(size);
        texts.push(UTF8.decode(await readFile(file.path)));
        changedMs.push(mtimeMs);
      } catch (error) {
        throw unusable(file, error);
      }
    }
    return { texts, changedMs };
  }

  private parse(texts: readonly string[]): T {
    const { parse, files } = this.options;
    try {
      return parse(...texts);
    } catch (error) {
      throw error instanceof StartError ? error : unusable(files[0], error);
    }
  }

  private checkSize(bytes: number): void {
    const { maxBytes } = this.options;
    if (bytes > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
  }
}

function unusable({ variable, path }: NamedFile, cause: unknown): StartError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const problem =
    code === undefined
      ? `${variable}: ${path}: ${message}`
      : `${variable} names a file that cannot be read: ${path} (${code})`;
  return new StartError(problem, { cause });
}
