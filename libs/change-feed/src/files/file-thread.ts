import { Worker } from 'node:worker_threads';
import { endsWithin } from '../runtime/runtime.js';
import type { FileCalls } from './file-calls.js';

// Node runs TypeScript without types of its own that need code, so tests run the source.
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** The file of a program for threads. @param name relative to this module, without its extension */
export function programFile(name: string): URL {
  return new URL(`${name}${EXTENSION}`, import.meta.url);
}

const FILE_CALLS = programFile('./file-calls');

/** The functions of a program, each called with its arguments. */
type Calls<C> = Record<keyof C & string, (...args: never[]) => unknown>;

/** Longest wait for the end of a thread that is closed. */
const CLOSE_MS = 1_000;
/** What calls change in the number of open files. */
const OPENED: Readonly<Record<string, number>> = { open: 1, create: 1, close: -1 };

type Reply =
  | { readonly result: unknown }
  | { readonly error: Error; readonly code: string | undefined };

interface Waiting {
  readonly name: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface FileThreadOptions {
  /** Longest time for a call. After that the thread is given up. Infinity: its owner gives it up. */
  readonly patienceMs: number;
  /** What the thread runs: one with the functions `C`; `file-calls` unless given. */
  readonly program?: URL;
  /** Whether a thread that has ended is followed by another one, which has no file open; true unless given. */
  readonly restarts?: boolean;
  /** A thread that has nothing to do and no file open ends after so long; never unless given. */
  readonly idleMs?: number;
}

/**
 * A thread that reads and writes files, so that a disk which does not answer holds up nobody else: neither the event
 * loop nor the threads that Node shares among lookups and files. It does one call after another, in their order.
 *
 * A thread whose disk hangs cannot be ended. It is given up: all calls fail at once until it has ended. The thread
 * after it starts with the next call.
 */
export class FileThread<C extends Calls<C> = FileCalls> {
  private thread: Worker | null = null;
  private waiting: Waiting[] = [];
  private openFiles = 0;
  private idle: NodeJS.Timeout | null = null;
  /** Whether the disk has not answered for too long: the thread is given up. */
  isHanging = false;
  isClosed = false;

  constructor(private readonly options: FileThreadOptions) {}

  /**
   * @param args bytes among them are transferred: the caller cannot use them afterwards.
   * @throws the error of `node:fs`, or Error when the disk does not answer or the thread has ended.
   */
  async call<N extends keyof C & string>(
    name: N,
    ...args: Parameters<C[N]>
  ): Promise<ReturnType<C[N]>> {
    const result = this.send(name, args);
    const { patienceMs } = this.options;
    if (patienceMs < Infinity && !(await endsWithin(result, patienceMs))) this.giveUp();
    return (await result) as ReturnType<C[N]>;
  }

  /** Ends the thread as soon as its disk answers. What it was called for has failed, as far as its owner knows. */
  giveUp(): void {
    if (this.thread === null) return;
    this.isHanging = true;
    void this.thread.terminate();
    this.rejectAll(new Error('the disk does not answer'));
  }

  /** Ends the thread and what it has open. Does not wait for a disk that hangs. Later calls fail. */
  async close(): Promise<void> {
    const { thread } = this;
    this.isClosed = true;
    this.giveUp();
    if (thread !== null) await endsWithin(thread.terminate(), CLOSE_MS);
  }

  private send(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.isClosed) return Promise.reject(new Error('the thread for files is closed'));
    if (this.isHanging) return Promise.reject(new Error('the disk does not answer'));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.thread ??= this.start();
    this.waiting.push({ name, resolve, reject });
    clearTimeout(this.idle ?? undefined);
    const transferred = args.filter((one) => one instanceof Uint8Array);
    this.thread.postMessage(
      { name, args },
      transferred.map(({ buffer }) => buffer as ArrayBuffer),
    );
    return promise;
  }

  private start(): Worker {
    // No arguments of this process: in tests they contain a condition that resolves packages to their sources.
    const thread = new Worker(this.options.program ?? FILE_CALLS, { execArgv: [] });
    thread.on('message', (reply: Reply) => this.receive(reply));
    thread.on('error', (error: Error) => this.rejectAll(error));
    thread.on('exit', () => {
      // It was idle.
      if (this.thread !== thread) return;
      this.thread = null;
      this.openFiles = 0;
      this.isHanging = false;
      if (this.options.restarts === false) this.isClosed = true;
      this.rejectAll(new Error('the thread for files has ended'));
    });
    thread.unref();
    return thread;
  }

  private receive(reply: Reply): void {
    const oldest = this.waiting.shift();
    if ('result' in reply) {
      this.openFiles += OPENED[oldest?.name ?? ''] ?? 0;
      oldest?.resolve(reply.result);
    } else oldest?.reject(Object.assign(reply.error, { code: reply.code }));
    const { idleMs } = this.options;
    if (idleMs === undefined || this.waiting.length > 0 || this.openFiles > 0) return;
    this.idle = setTimeout(() => this.endIdle(), idleMs).unref();
  }

  private endIdle(): void {
    const { thread } = this;
    this.thread = null;
    void thread?.terminate();
  }

  private rejectAll(error: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }
}
