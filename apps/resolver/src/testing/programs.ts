import { execFile, spawn } from 'node:child_process';

/** Ends a program that hangs. */
const MAX_RUN_MS = 150_000;
/** dig and kdig wait as long as a busy machine may need. They ask once: they print each try that has timed out. */
const PATIENT = ['+retry=0', '+time=60'];

/** Runs a program to its end. @returns what it printed, whatever its exit code. */
export function run(name: string, args: readonly string[]): Promise<string> {
  const all = name === 'dig' || name === 'kdig' ? [...PATIENT, ...args] : args;
  return new Promise((resolve) => {
    execFile(name, all, { timeout: MAX_RUN_MS }, (_error, stdout, stderr) => {
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
