import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';

/** A program of the tools in a process of its own. Both talk by messages, and it ends with the one that started it. */
export class Helper implements AsyncDisposable {
  readonly process: ChildProcess;
  /** Resolves with how it ended. */
  readonly ended: Promise<Error>;

  /** @param argument becomes JSON; `helperArgument` has it in the program */
  constructor(program: URL, argument: unknown, options: ForkOptions = {}) {
    this.process = fork(program, [JSON.stringify(argument)], options);
    const name = basename(program.pathname, '.js');
    this.ended = once(this.process, 'exit').then(
      ([code, signal]) => new Error(`${name} ended by itself (${signal ?? code})`),
    );
  }

  /** The next message. @throws Error when it ends before */
  async next<T>(): Promise<T> {
    const received = await Promise.race([once(this.process, 'message'), this.ended]);
    if (received instanceof Error) throw received;
    return received[0] as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}

/** Runs a program until its first message. @param nodeOptions for its Node */
export async function askHelper<T>(
  program: URL,
  argument: unknown,
  nodeOptions: readonly string[] = [],
): Promise<T> {
  await using helper = new Helper(program, argument, { execArgv: [...nodeOptions] });
  return await helper.next<T>();
}

/** In the program: its argument. */
export function helperArgument(): unknown {
  process.once('disconnect', () => process.exit());
  return JSON.parse(process.argv[2] ?? 'null') as unknown;
}

/** In the program: sends a message. */
export function tellMain(message: unknown): void {
  process.send?.(message);
}
