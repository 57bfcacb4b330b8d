import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, type ExitStatus, startChild } from '../services/child.js';

export interface WeirProcessOptions {
  readonly name: string;
  readonly script: string;
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly opsPort: number;
  readonly logFile: string;
  /** Told when it ends although nobody ended it. */
  readonly onUnexpectedExit: (explanation: string) => void;
}

const READY_DEADLINE_MS = 30_000;
/** SIGTERM drains for as long as it is told, and then ends the process within this time (external contract). */
const STOP_DEADLINE_MS = 10_000;

/** One process of Weir, which the script kills, stops and starts again on the same ports and folder. */
export class WeirProcess {
  readonly name: string;
  /** Counts the processes that have had this place. */
  incarnation = 0;
  /** When it was last killed, stopped or continued; what was under way then may come to nothing. */
  disturbedAtMs = 0;
  private readyAtMs: number | null = null;
  private isPaused = false;
  private child: Child | null = null;
  private ending = false;

  constructor(private readonly options: WeirProcessOptions) {
    this.name = options.name;
  }

  /** Where its health and metrics are. */
  get opsUrl(): string {
    return `http://127.0.0.1:${this.options.opsPort}`;
  }

  /** Whether it must answer: ready, and not stopped. */
  get up(): boolean {
    return this.readyAtMs !== null && !this.isPaused;
  }

  /** How long it has been up without a disturbance; 0 when it is not. */
  upForMs(nowMs: number): number {
    if (this.readyAtMs === null || this.isPaused) return 0;
    return nowMs - Math.max(this.readyAtMs, this.disturbedAtMs);
  }

  /** @param variables besides its own, for this start only. */
  async start(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const { name, root, script, environment, logFile, onUnexpectedExit } = this.options;
    this.incarnation++;
    this.ending = false;
    const child = startChild({
      name,
      command: process.execPath,
      args: ['--enable-source-maps', script],
      env: { PATH: process.env['PATH'], ...environment, ...variables },
      cwd: root,
      logFile,
    });
    this.child = child;
    void child.exited.then((ending) => {
      if (this.child !== child || this.ending) return;
      this.readyAtMs = null;
      onUnexpectedExit(
        [`${name} ended by itself: ${JSON.stringify(ending)}`, ...child.lastLines()].join('\n  '),
      );
    });
    await this.waitUntilReady(child);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** SIGTERM; answers how it ended. */
  terminate(): Promise<ExitStatus> {
    return this.end('SIGTERM');
  }

  pause(): void {
    this.signal('SIGSTOP');
    this.isPaused = true;
  }

  resume(): void {
    this.signal('SIGCONT');
    this.isPaused = false;
  }

  /** The sum of a metric over all its labels. @throws when the process does not tell it. */
  async metric(name: string): Promise<number> {
    const response = await fetch(`${this.opsUrl}/metrics`);
    const lines = (await response.text()).split('\n');
    const values = lines.filter(
      (line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`),
    );
    if (values.length === 0) throw new Error(`${this.name} has no metric ${name}`);
    return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<ExitStatus> {
    this.ending = true;
    this.readyAtMs = null;
    this.disturbedAtMs = performance.now();
    const drainMs = Number(this.options.environment['DRAIN_S'] ?? 0) * 1_000;
    const ending = await (this.child?.stop(signal, STOP_DEADLINE_MS + drainMs) ?? { code: 0 });
    this.child = null;
    return ending;
  }

  private signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.disturbedAtMs = performance.now();
    if (this.child !== null) process.kill(this.child.pid, signal);
  }

  private async waitUntilReady(child: Child): Promise<void> {
    const deadlineMs = performance.now() + READY_DEADLINE_MS;
    let reason = 'no answer';
    while (performance.now() < deadlineMs && this.child === child && !this.ending) {
      try {
        const response = await fetch(`${this.opsUrl}/readyz`, {
          signal: AbortSignal.timeout(2_000),
        });
        if (response.ok) {
          this.readyAtMs = performance.now();
          return;
        }
        reason = await response.text();
      } catch {
        reason = 'no answer'; // not listening yet
      }
      await sleep(20);
    }
    if (this.child !== child || this.ending) return;
    throw new Error([`${this.name} is not ready: ${reason}`, ...child.lastLines()].join('\n  '));
  }
}
