import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, type ExitStatus, startChild, waitUntilReady } from './child.js';

export interface WeirProcessOptions {
  readonly name: string;
  /** Its entry point is of this folder of `apps`. */
  readonly app: 'control-plane' | 'resolver' | 'block-page';
  /** The folder of the release that it is started from at first. */
  readonly root: string;
  /** Its variables, read at each start. PATH, OPS_PORT and NODE_COMPILE_CACHE have values here. */
  readonly environment: () => Readonly<Record<string, string>>;
  readonly opsPort: number;
  readonly logFile: string;
  /** Called when the process exits although nobody stopped it. Default: an error that nobody catches. */
  readonly onUnexpectedExit?: ((explanation: string) => void) | undefined;
  /** Command in front of the command (`taskset …`). */
  readonly prefix?: readonly string[];
  /** Default: long, because a busy machine may starve a process that starts. */
  readonly readyWithinMs?: number;
}

const READY_DEADLINE_MS = 90_000;
/**
 * After SIGTERM a process drains for `DRAIN_S` and then exits within 10 s (external contract). A busy machine may take
 * longer; what hangs does not exit within this time either.
 */
const STOP_DEADLINE_MS = 60_000;

/** One process of Weir that can be killed, stopped and started again, with the same ports and folder. */
export class WeirProcess {
  readonly name: string;
  /** How often it was started. */
  incarnation = 0;
  /** When it was last killed, stopped or continued. Queries in flight at that time may fail. */
  disturbedAtMs = 0;
  /** The folder of the release that it is started from next time. */
  releaseRoot: string;
  private readyAtMs: number | null = null;
  private isPaused = false;
  private child: Child | null = null;
  private ending = false;

  constructor(private readonly options: WeirProcessOptions) {
    this.name = options.name;
    this.releaseRoot = options.root;
  }

  /** Base URL of its health and metrics. */
  get opsUrl(): string {
    return `http://127.0.0.1:${this.options.opsPort}`;
  }

  /** @throws Error while it is not started */
  get running(): Child {
    if (this.child === null) throw new Error(`${this.name} is not started`);
    return this.child;
  }

  get pid(): number {
    return this.running.pid;
  }

  /** Whether it must answer: it is ready and not stopped. */
  get up(): boolean {
    return this.readyAtMs !== null && !this.isPaused;
  }

  /** How long it has been up without a disturbance; 0 if it is down. */
  upForMs(nowMs: number): number {
    if (this.readyAtMs === null || this.isPaused) return 0;
    return nowMs - Math.max(this.readyAtMs, this.disturbedAtMs);
  }

  /** How long it has been running, whether or not it was stopped (SIGSTOP) meanwhile; 0 if it was killed. */
  aliveForMs(nowMs: number): number {
    return this.readyAtMs === null ? 0 : nowMs - this.readyAtMs;
  }

  /** When it was stopped (SIGSTOP); null while it runs. */
  get pausedAtMs(): number | null {
    return this.isPaused ? this.disturbedAtMs : null;
  }

  /** @param variables additional variables for this start only. */
  async start(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const { name, app, opsPort, environment, logFile, prefix } = this.options;
    this.incarnation++;
    this.ending = false;
    const child = startChild({
      command: process.execPath,
      args: ['--enable-source-maps', `apps/${app}/dist/main.js`],
      env: {
        PATH: process.env['PATH'],
        // Saves a fifth of the processor time of a start.
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        // As in the images.
        MALLOC_ARENA_MAX: '1',
        OPS_PORT: String(opsPort),
        ...environment(),
        ...variables,
      },
      cwd: this.releaseRoot,
      logFile,
      prefix,
    });
    this.child = child;
    void child.exited.then((ending) => {
      if (this.child !== child || this.ending) return;
      this.readyAtMs = null;
      const lines = [`${name} ended by itself: ${JSON.stringify(ending)}`, ...child.lastLines()];
      const explanation = lines.join('\n  ');
      if (this.options.onUnexpectedExit === undefined) throw new Error(explanation);
      this.options.onUnexpectedExit(explanation);
    });
    await this.waitUntilReady(child);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Sends SIGTERM. @returns how it exited. */
  terminate(): Promise<ExitStatus> {
    return this.end('SIGTERM');
  }

  /** Ends it with SIGTERM, and starts it again. @param onWrong is told when it did not exit with 0 */
  async restart(onWrong: (text: string) => void): Promise<void> {
    const status = await this.terminate();
    if (!('code' in status) || status.code !== 0)
      onWrong(`${this.name} ended with ${JSON.stringify(status)} at SIGTERM`);
    await this.start();
  }

  /** Waits for it to end without a signal. It need not answer any more. @returns null: it did not end in time. */
  async endOfItself(deadlineMs: number): Promise<ExitStatus | null> {
    this.expectEnd();
    const late = sleep(deadlineMs, null, { ref: false });
    const ending = await Promise.race([this.child?.exited ?? null, late]);
    if (ending === null) await this.kill();
    this.child = null;
    return ending;
  }

  pause(): void {
    this.signal('SIGSTOP');
    this.isPaused = true;
  }

  resume(): void {
    this.signal('SIGCONT');
    this.isPaused = false;
  }

  /** @param limit bytes, or `unlimited` */
  limitFileSize(limit: string): void {
    if (this.child === null) return;
    execFileSync('prlimit', ['--pid', String(this.child.pid), `--fsize=${limit}:unlimited`]);
  }

  /** Steps its clock, see `stepClockAtSignal`. */
  stepClock(): void {
    if (this.child !== null) process.kill(this.child.pid, 'SIGUSR2');
  }

  /** The values of its metrics, by name and labels. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const page = await (await fetch(`${this.opsUrl}/metrics`)).text();
    const lines = page.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm);
    return new Map(Array.from(lines, ([, name, value]) => [name, Number(value)]));
  }

  /** The sum of a metric over all its labels. @throws Error if the process has no such metric. */
  async metric(name: string): Promise<number> {
    const all = [...(await this.metrics())];
    const values = all.filter(([one]) => one.split('{', 1)[0] === name);
    if (values.length === 0) throw new Error(`${this.name} has no metric ${name}`);
    return values.reduce((sum, [, value]) => sum + value, 0);
  }

  private expectEnd(): void {
    this.ending = true;
    this.readyAtMs = null;
    this.disturbedAtMs = performance.now();
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<ExitStatus> {
    this.expectEnd();
    const drainMs = Number(this.options.environment()['DRAIN_S'] ?? 0) * 1_000;
    const ending = await (this.child?.stop(signal, STOP_DEADLINE_MS + drainMs) ?? { code: 0 });
    this.child = null;
    return ending;
  }

  private signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.disturbedAtMs = performance.now();
    if (this.child !== null) process.kill(this.child.pid, signal);
  }

  private async waitUntilReady(child: Child): Promise<void> {
    const { readyWithinMs = READY_DEADLINE_MS } = this.options;
    const ended = new AbortController();
    void child.exited.then(() => ended.abort());
    try {
      await waitUntilReady(`${this.opsUrl}/readyz`, ended.signal, readyWithinMs);
      this.readyAtMs = performance.now();
    } catch (error) {
      if (this.child !== child || this.ending) return;
      const reason = `${this.name} is not ready: ${(error as Error).message}`;
      throw new Error([reason, ...child.lastLines()].join('\n  '), { cause: error });
    }
  }
}
