import { type ChildProcess, fork } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { prefer } from './cpu.js';

export interface HelperOptions {
  /** Its compiled script, relative to this file. */
  readonly script: string;
  /** Passed to it as JSON. */
  readonly argument: unknown;
  readonly logFile: string;
  /** See `prefer`. */
  readonly priority: number;
}

/** A process of the suite that talks with the main one by messages. It ends with the main one. */
export class HelperProcess {
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  private isStopping = false;

  private constructor(private readonly options: HelperOptions) {
    const { script, argument, logFile } = options;
    const file = fileURLToPath(new URL(script, import.meta.url));
    this.child = fork(file, [JSON.stringify(argument)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const log = createWriteStream(logFile, { flags: 'a' });
    this.child.stdout?.pipe(log, { end: false });
    this.child.stderr?.pipe(log, { end: false });
    this.exited = new Promise((resolve) => this.child.once('exit', resolve));
  }

  /** Starts the process, and waits for its first message: it is ready. */
  static async start(options: HelperOptions): Promise<HelperProcess> {
    const helper = new HelperProcess(options);
    await helper.next();
    prefer(helper.pid, options.priority);
    return helper;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  onMessage(take: (message: unknown) => void): void {
    this.child.on('message', take);
  }

  send(message: string): void {
    this.child.send(message);
  }

  /** The next message. @throws Error when the process ends before it */
  next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { script, logFile } = this.options;
      const onExit = (): void => reject(new Error(`${script} ended by itself, see ${logFile}`));
      this.child.once('exit', onExit);
      this.child.once('message', (message) => {
        this.child.off('exit', onExit);
        resolve(message);
      });
    });
  }

  /** @param fail called when the process ends before it is stopped */
  onUnexpectedExit(fail: (explanation: string) => void): void {
    const { script, logFile } = this.options;
    this.child.once('exit', (code, signal) => {
      if (!this.isStopping) fail(`${script} ended by itself (${signal ?? code}), see ${logFile}`);
    });
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
