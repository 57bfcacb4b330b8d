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
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  private isStopping = false;

  private constructor(
    script: string,
    argument: unknown,
    private readonly context: HelperContext,
  ) {
    const logFile = join(context.folder, `${script}.log`);
    const log = openSync(logFile, 'a');
    const file = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
    const stdio = ['ignore' as const, log, log, 'ipc' as const];
    this.child = fork(file, [JSON.stringify(argument)], { stdio });
    closeSync(log);
    this.exited = once(this.child, 'exit').then(([code, signal]) => {
      const how = `${script} ended by itself (${signal ?? code}), see ${logFile}`;
      if (!this.isStopping) context.failed.abort(new Error(how));
    });
  }

  /**
   * Starts the process, and waits for its first message: it is ready.
   * @param script its name without an ending, in this folder. @param priority see `prefer`
   */
  static async start(
    script: string,
    argument: unknown,
    priority: number,
    context: HelperContext,
  ): Promise<Helper> {
    const helper = new Helper(script, argument, context);
    await helper.next();
    prefer(helper.child.pid ?? 0, priority);
    return helper;
  }

  onMessage(take: (message: unknown) => void): void {
    this.child.on('message', take);
  }

  send(message: string): void {
    this.child.send(message);
  }

  /** The next message. */
  async next(): Promise<unknown> {
    const { signal } = this.context.failed;
    const [message] = (await once(this.child, 'message', { signal })) as unknown[];
    return message;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
