import { execFile, spawn } from 'node:child_process';

/** Runs a program to its end. @returns what it printed, whatever its exit code. */
export function run(name: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(name, args, { timeout: 20_000 }, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
}

/** A running server. */
export interface Program {
  readonly hasEnded: boolean;
  /** @param signal default: the program ends at once */
  stop(signal?: 'SIGTERM'): Promise<void>;
}

export function startProgram(name: string, args: readonly string[]): Program {
  const child = spawn(name, args, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  return {
    get hasEnded() {
      return child.exitCode !== null;
    },
    stop: (signal) => {
      child.kill(signal ?? 'SIGKILL');
      return ended;
    },
  };
}
