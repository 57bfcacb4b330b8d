import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prefer } from './cpu.js';

export interface HelperContext {
  /** Of its log. */
  readonly folder: string;
  /** Aborted when a process ends that nobody stopped. Its reason is an Error. */
  readonly failed: AbortController;
}

/** A process of the suite that talks with the main one by messages. It ends with the main one. */
export class Helper {
  private constructor(
    readonly process: ChildProcess,
    private readonly exited: Promise<unknown>,
    private readonly failed: AbortController,
  ) {}

  /**
   * Starts the process, and waits for its first message: it is ready.
   * @param script its name without an ending, in this folder. @param priority see `prefer`
   */
  static async start(
    script: string,
    argument: unknown,
    priority: number,
    { folder, failed }: HelperContext,
  ): Promise<Helper> {
    const logFile = join(folder, `${script}.log`);
    const log = openSync(logFile, 'a');
    const file = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
    const child = fork(file, [JSON.stringify(argument)], { stdio: ['ignore', log, log, 'ipc'] });
    closeSync(log);
    const exited = once(child, 'exit').then(([code, signal]) => {
      const how = `${script} ended by itself (${signal ?? code}), see ${logFile}`;
      if (!child.killed) failed.abort(new Error(how));
    });
    const helper = new Helper(child, exited, failed);
    await helper.next();
    prefer(child.pid ?? 0, priority);
    return helper;
  }

  /** The next message. */
  async next(): Promise<unknown> {
    const { signal } = this.failed;
    const [message] = (await once(this.process, 'message', { signal })) as unknown[];
    return message;
  }

  async stop(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
