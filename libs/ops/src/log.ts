import { writevSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
export type { Logger } from 'pino';

/** Time between attempts to write to a pipe that is full. */
const RETRY_MS = 20;
/** While the process ends. */
const FINAL_RETRY_MS = 5;
/**
 * So often in a row, for a second, the end of the process tries a reader that reads nothing. Attempts are counted and
 * not time, because a machine that stands still for a while stops the reader, too.
 */
const FINAL_ATTEMPTS = 200;
/** Pieces of one system call. Linux takes 1,024. */
const MAX_PIECES = 256;

const SLEEP_CELL = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to a file descriptor. Nobody waits: what a full pipe does not take is kept, in order, and written later.
 * Writing in the thread pool would not do: a thread that waits for the reader of a pipe keeps the process from ending.
 */
export class LineOutput {
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private retry: NodeJS.Timeout | undefined;
  private whenEmpty: (() => void)[] = [];

  /** @param fd does not block, or is a file */
  constructor(private readonly fd: number) {}

  /**
   * Writes whole lines now, or keeps them unless more than `capacityBytes` would wait then.
   * @returns false: the lines are dropped
   */
  write(lines: string, capacityBytes: number): boolean {
    const bytes = Buffer.from(lines);
    const isFull = this.waitingBytes > 0 && this.waitingBytes + bytes.length > capacityBytes;
    if (isFull) return false;
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    // Else it is full, and an attempt will follow.
    if (this.retry === undefined) this.attempt();
    return true;
  }

  /** Calls `then` when nothing waits any more. */
  onceEmpty(then: () => void): void {
    this.whenEmpty.push(then);
  }

  /** Writes all that waits, unless nobody reads. For the end of the process: meanwhile nothing else runs. */
  finish(): void {
    let inVain = 0;
    this.attempt();
    while (this.waitingBytes > 0 && inVain < FINAL_ATTEMPTS) {
      const before = this.waitingBytes;
      Atomics.wait(SLEEP_CELL, 0, 0, FINAL_RETRY_MS);
      this.attempt();
      inVain = this.waitingBytes < before ? 0 : inVain + 1;
    }
  }

  private attempt(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    while (this.waitingBytes > 0) {
      const written = this.writeSome();
      if (written === 0) {
        // What waits at the end is written by `finish`.
        this.retry = setTimeout(() => this.attempt(), RETRY_MS).unref();
        return;
      }
      this.discard(written);
    }
    for (const then of this.whenEmpty.splice(0)) then();
  }

  /** @returns the number of bytes that need not wait any more; 0: the pipe is full */
  private writeSome(): number {
    try {
      return writevSync(this.fd, this.waiting.slice(0, MAX_PIECES));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      // The reader is gone or the disk is full, for example. The log itself cannot report that.
      return this.waitingBytes;
    }
  }

  private discard(bytes: number): void {
    this.waitingBytes -= bytes;
    let whole = 0;
    let left = bytes;
    while (whole < this.waiting.length && left >= this.waiting[whole].length) {
      left -= this.waiting[whole++].length;
    }
    this.waiting.splice(0, whole);
    if (left > 0) this.waiting[0] = this.waiting[0].subarray(left);
  }
}

let shared: LineOutput | null = null;

/** The standard output of this process. All that is written to it goes through this one object, line by line. */
export function standardOutput(): LineOutput {
  if (shared === null) {
    // A pipe or socket does not block any more from the first use of `process.stdout`.
    const output = new LineOutput(process.stdout.fd);
    process.on('exit', () => output.finish());
    shared = output;
  }
  return shared;
}

/** Levels of `LOG_LEVEL`, most severe first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Maximum number of bytes that wait while nobody reads the log. */
const CAPACITY_BYTES = 1024 * 1024;

/**
 * The log of a process: one JSON object in each line, with ISO times and the level as a word. By default it goes to
 * standard output. While that is not read, a megabyte of lines waits; further lines are dropped.
 */
export function createLogger(
  options: { name: string; level: LogLevel },
  destination?: DestinationStream,
): Logger {
  const log: Logger = pino(
    {
      level: options.level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      base: { process: options.name },
    },
    destination ??
      toStandardOutput((dropped) => {
        log.warn({ dropped }, 'lines of the log were dropped: standard output was not read');
      }),
  );
  return log;
}

function toStandardOutput(reportDropped: (lines: number) => void): DestinationStream {
  let dropped = 0;
  const report = (): void => {
    reportDropped(dropped);
    dropped = 0;
  };
  return {
    write(line) {
      const output = standardOutput();
      if (output.write(line, CAPACITY_BYTES)) return;
      if (dropped++ === 0) output.onceEmpty(report);
    },
  };
}
