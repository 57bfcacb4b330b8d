import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, describeExit } from '../services/child.js';

/** What to do after a process has exited unexpectedly. */
interface Restart {
  /** Delay before the restart. */
  readonly pauseMs: number;
  /** It has exited `MAX_EXITS` times within a minute, and has not been stable since. */
  readonly isFailing: boolean;
}

const INITIAL_DELAY_MS = 200;
/** Also the delay for a failing process: it is there soon after the cause is gone. */
const MAX_DELAY_MS = 10_000;
/** A process that has run this long is stable. */
const STABLE_MS = 60_000;
const EXIT_WINDOW_MS = 60_000;
const MAX_EXITS = 5;

/**
 * Exponential backoff for processes that exit unexpectedly. The delay doubles with each exit. A process that exits
 * again and again is restarted slowly. After a stable run the delay starts again at its initial value.
 */
export class RestartPolicy {
  private pauseMs = INITIAL_DELAY_MS;
  private isFailing = false;
  /** Times of its exits within the last minute. */
  private ends: readonly number[] = [];

  /** @param startedMs when the process was started. @param endedMs when it exited. Both by the same monotonic clock. */
  ended(startedMs: number, endedMs: number): Restart {
    if (endedMs - startedMs >= STABLE_MS) {
      this.pauseMs = INITIAL_DELAY_MS;
      this.isFailing = false;
      this.ends = [];
    }
    this.ends = [...this.ends.filter((atMs) => endedMs - atMs < EXIT_WINDOW_MS), endedMs];
    this.isFailing ||= this.ends.length >= MAX_EXITS;
    const { pauseMs, isFailing } = this;
    this.pauseMs = Math.min(pauseMs * 2, MAX_DELAY_MS);
    return { pauseMs: isFailing ? MAX_DELAY_MS : pauseMs, isFailing };
  }
}

export interface SupervisedProcessOptions {
  readonly name: string;
  readonly logFile: string;
  /** Starts the process. Called again for each restart. */
  readonly start: () => Promise<Child>;
  /** Waits until the process is ready. @throws Error with the reason after `deadlineMs`, or when aborted. */
  readonly waitUntilReady: (signal: AbortSignal, deadlineMs: number) => Promise<void>;
  /** Called if the process exits before `enableRestarts` was called. */
  readonly onUnexpectedExit: (explanation: string) => void;
  /** Called with each exit and restart after that. */
  readonly report: (text: string) => void;
  readonly stop: (child: Child) => Promise<unknown>;
  /** Of this process alone. */
  readonly policy: Pick<RestartPolicy, 'ended'>;
}

/** Upper bound of the first start until the process is ready. */
const READY_DEADLINE_MS = 60_000;
/** Upper bound of the wait of a stop for a start in progress. */
const STARTING_DEADLINE_MS = 15_000;

/** A process of the stack that is restarted whenever it exits unexpectedly. */
export class SupervisedProcess {
  readonly name: string;
  /** Number of restarts. */
  restarts = 0;
  private readonly stopping = new AbortController();
  private child: Child | null = null;
  private starting: Promise<unknown> = Promise.resolve();
  private startedMs = 0;
  private isRestartEnabled = false;
  private readonly restartsEnabled = Promise.withResolvers<null>();

  constructor(private readonly options: SupervisedProcessOptions) {
    this.name = options.name;
  }

  /** Whether the process runs. */
  get isUp(): boolean {
    return this.child !== null;
  }

  /**
   * The first start. @throws StartError if the process is not ready in time. An exit is reported to
   * `onUnexpectedExit` instead.
   */
  async start(): Promise<void> {
    const { signal } = this.stopping;
    await this.run();
    signal.throwIfAborted();
    try {
      await this.options.waitUntilReady(signal, READY_DEADLINE_MS);
    } catch (cause) {
      signal.throwIfAborted();
      const reason = `${(cause as Error).message} (${this.options.logFile})`;
      const text = `${this.name} is not ready after ${READY_DEADLINE_MS / 1000} s: ${reason}`;
      throw new StartError(text, { cause });
    }
  }

  /** From now on the process is restarted when it exits, or at once if it has exited already. */
  enableRestarts(): void {
    this.isRestartEnabled = true;
    this.restartsEnabled.resolve(null);
  }

  /** Stops the process, or the delay before its restart. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.race([this.starting, sleep(STARTING_DEADLINE_MS, undefined, { ref: false })]);
    if (this.child !== null) await this.options.stop(this.child);
  }

  /** Starts the process and watches for its exit. */
  private async run(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    this.startedMs = performance.now();
    const started = this.options.start();
    this.starting = started.catch(() => undefined);
    const child = await started;
    const ended = new AbortController();
    this.child = child;
    void child.exited.then((ending) => {
      this.child = null;
      ended.abort();
      if (this.stopping.signal.aborted) return;
      const lines = [`Its last lines (${this.options.logFile}):`, ...child.lastLines()];
      const how = `ended by itself (${describeExit(ending)})`;
      if (!this.isRestartEnabled)
        this.options.onUnexpectedExit(`${this.name} ${how}. ${lines.join('\n  ')}`);
      void this.restartsEnabled.promise.then(() => this.startAgain(how, lines));
    });
    if (this.restarts > 0) void this.reportReady(ended.signal);
  }

  /** @param how it exited. @param lines more explanation. After several failed attempts both are of the last one. */
  private async startAgain(how: string, lines: readonly string[]): Promise<void> {
    const { signal } = this.stopping;
    for (let isRunning = false; !isRunning;) {
      const restart = this.options.policy.ended(this.startedMs, performance.now());
      this.options.report(`${this.name} ${how}${describeRestart(restart)}. ${lines.join('\n  ')}`);
      // Only a stop aborts this.
      await sleep(restart.pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.restarts++;
      try {
        await this.run();
        isRunning = true;
      } catch (error) {
        // Retry after any error: a full disk or a taken port may be fixed while the other processes run.
        how = 'cannot be started';
        lines = (error as Error).message.split('\n');
      }
    }
  }

  private async reportReady(ended: AbortSignal): Promise<void> {
    try {
      await this.options.waitUntilReady(AbortSignal.any([ended, this.stopping.signal]), Infinity);
      this.options.report(`${this.name} is up again`);
    } catch {
      // It exited again, or the stack stops; both are reported elsewhere.
    }
  }
}

function describeRestart({ pauseMs, isFailing }: Restart): string {
  if (!isFailing) return `; it is started again in ${pauseMs / 1000} s`;
  return `; it has ended ${MAX_EXITS} times within a minute, and is only tried every ${MAX_DELAY_MS / 1000} s now`;
}
