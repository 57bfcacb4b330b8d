import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, describeExit } from '../services/child.js';
import { MAX_EXITS, type Restart, RestartPolicy, FAILING_DELAY_MS } from './restart-policy.js';

export interface SupervisedProcessOptions {
  readonly name: string;
  readonly logFile: string;
  /** Starts the process; the same way again each time that it has ended. */
  readonly start: () => Promise<Child>;
  /**
   * Resolves when the process that was started can serve. @throws what says why it cannot after `deadlineMs`, or when
   * aborted.
   */
  readonly waitUntilReady: (signal: AbortSignal, deadlineMs: number) => Promise<void>;
  /** Told why the process ended by itself before `enableRestarts` was called. */
  readonly onUnexpectedExit: (explanation: string) => void;
  /** Told what becomes of it from then on. */
  readonly report: (text: string) => void;
  /** How a process of this kind is told to stop. Default: SIGTERM, ten seconds. */
  readonly stop?: (child: Child) => Promise<unknown>;
  readonly policy?: Pick<RestartPolicy, 'ended'>;
}

/** Longest that the first start may take until the process can serve. */
const READY_DEADLINE_MS = 60_000;
/** Longest that a stop waits for a start that is under way. */
const STARTING_DEADLINE_MS = 15_000;

/** A process of the stack: started once, and from then on again whenever it ends by itself. */
export class SupervisedProcess {
  readonly name: string;
  /** How often it was started again. */
  restarts = 0;
  private readonly policy: Pick<RestartPolicy, 'ended'>;
  private readonly stopping = new AbortController();
  private child: Child | null = null;
  private starting: Promise<unknown> = Promise.resolve();
  private startedMs = 0;
  private isRestartEnabled = false;
  /** Of a process that ended before it was kept up. */
  private pendingRestart: (() => void) | undefined;

  constructor(private readonly options: SupervisedProcessOptions) {
    this.name = options.name;
    this.policy = options.policy ?? new RestartPolicy();
  }

  /** Whether the process runs. */
  get isUp(): boolean {
    return this.child !== null;
  }

  /**
   * The first start. @throws StartError when the process cannot serve; that it ended by itself is told to
   * `onUnexpectedExit`.
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

  /** From now on the process is started again when it ends, or has ended already. */
  enableRestarts(): void {
    this.isRestartEnabled = true;
    this.pendingRestart?.();
  }

  /** Ends the process, or the pause before it is started again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.race([this.starting, sleep(STARTING_DEADLINE_MS, undefined, { ref: false })]);
    if (this.child === null) return;
    await (this.options.stop?.(this.child) ?? this.child.stop());
  }

  /** Starts the process, and notes its end. */
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
      const startAgain = (): void => void this.startAgain(how, lines);
      if (this.isRestartEnabled) {
        startAgain();
        return;
      }
      this.pendingRestart = startAgain;
      this.options.onUnexpectedExit(`${this.name} ${how}. ${lines.join('\n  ')}`);
    });
    if (this.isRestartEnabled) void this.reportReady(ended.signal);
  }

  /** @param how it ended, and @param lines that say more; both of the last attempt when one fails after the other. */
  private async startAgain(how: string, lines: readonly string[]): Promise<void> {
    const { signal } = this.stopping;
    for (let isRunning = false; !isRunning;) {
      const restart = this.policy.ended(this.startedMs, performance.now());
      this.options.report(`${this.name} ${how}${describeRestart(restart)}. ${lines.join('\n  ')}`);
      // Aborted only by a stop.
      await sleep(restart.pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.restarts++;
      try {
        await this.run();
        isRunning = true;
      } catch (error) {
        // Whatever it is: a full disk or a port that somebody took may be mended while the others go on.
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
      // It has ended once more, or the stack stops: either is told of elsewhere.
    }
  }
}

function describeRestart({ pauseMs, isFailing }: Restart): string {
  if (!isFailing) return `; it is started again in ${pauseMs / 1000} s`;
  return `; it has ended ${MAX_EXITS} times within a minute, and is only tried every ${FAILING_DELAY_MS / 1000} s now`;
}
