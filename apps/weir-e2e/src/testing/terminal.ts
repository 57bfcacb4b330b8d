import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** A command as in a terminal: Ctrl-C reaches its whole process group. */
export class Terminal {
  output = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  private hasEnded = false;

  constructor(
    command: string,
    args: readonly string[],
    options: { cwd: string; env: Record<string, string> },
  ) {
    this.child = spawn(command, args, {
      ...options,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code) => {
        this.hasEnded = true;
        resolve(code);
      });
    });
  }

  /** Process id of the command itself. */
  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** Waits until the output contains the text. @throws Error when the command exits first, or after `deadlineMs`. */
  async waitFor(text: string, deadlineMs: number): Promise<void> {
    const endMs = performance.now() + deadlineMs;
    while (!this.output.includes(text)) {
      if (this.hasEnded || performance.now() > endMs) {
        throw new Error(`"${text}" did not come; the output was:\n${this.output}`);
      }
      await sleep(20);
    }
  }

  /** Presses Ctrl-C, or sends another signal to the whole group. @returns the exit code. */
  async interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    if (!this.hasEnded && this.child.pid !== undefined) process.kill(-this.child.pid, signal);
    return this.ended;
  }

  /** Sends the signal only to the command itself. @returns the exit code. */
  interruptFirst(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Waits until the command exits. @returns the exit code. */
  exitCode(): Promise<number | null> {
    return this.ended;
  }
}
