import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command and returns its outcome, also when it fails. @throws Error when it cannot be started. */
export async function outcomeOf(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[status], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[ChildProcess['exitCode']]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { status: status ?? 1, stdout, stderr };
}

/** @returns the standard output of a command, trimmed. @throws Error with all output when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { status, stdout, stderr } = await outcomeOf(command, args, options);
  if (status === 0) return stdout.trim();
  throw new Error(`"${command} ${args.join(' ')}" ended with ${status}\n${stdout}${stderr}`);
}
