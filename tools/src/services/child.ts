import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const FAST_POLL_MS = 20;
/** A process that is not ready after this time waits for another server and may take hours: poll more slowly. */
const FAST_POLL_FOR_MS = 60_000;
const SLOW_POLL_MS = 1_000;
const RESPONSE_DEADLINE_MS = 2_000;

/**
 * Polls a process until it is ready.
 * @param url its `/readyz`
 * @param signal aborts the wait; its reason is thrown.
 * @throws Error with the reason why it is not ready, after `deadlineMs`.
 */
export async function waitUntilReady(
  url: string,
  signal: AbortSignal,
  deadlineMs: number,
): Promise<void> {
  const startedMs = performance.now();
  let reason = 'no answer';
  while (performance.now() - startedMs < deadlineMs) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_DEADLINE_MS)]),
      });
      const text = (await response.text()).trim();
      if (response.ok) return;
      reason = text;
    } catch {
      reason = 'no answer'; // not listening yet
    }
    await sleep(performance.now() - startedMs < FAST_POLL_FOR_MS ? FAST_POLL_MS : SLOW_POLL_MS);
  }
  throw new Error(reason);
}

/** How a child exited: an exit code, or the signal that killed it. */
export type ExitStatus = { readonly code: number } | { readonly signal: NodeJS.Signals };

/** Disposing of it stops it. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** Resolves when the child has exited, for whatever reason, and its whole output is in the log file. */
  readonly exited: Promise<ExitStatus>;
  /** The last lines of its output. */
  lastLines(): readonly string[];
  /** Sends the signal, waits up to `graceMs`, then sends SIGKILL. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<ExitStatus>;
}

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File to which all output is appended. */
  readonly logFile: string;
  /** Command in front of the command, with its options (`setpriv …`). */
  readonly prefix?: readonly string[] | undefined;
  readonly cwd?: string;
}

const KEPT_LINES = 15;

/**
 * Starts a child process in its own session. So Ctrl-C reaches only the parent, which stops its children in order.
 * If `setpriv` is available, the kernel ends the child when the parent is killed.
 */
export function startChild(options: ChildOptions): Child {
  const { prefix = dieWithParent('TERM'), env, cwd, logFile } = options;
  const [command, ...args] = [...prefix, options.command, ...options.args];
  const child = spawn(command, args, {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { lines, kept } = keepOutput(child, logFile);
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('error', (error) => {
      lines.push(`cannot start ${command}: ${error.message}`);
      void kept.then(() => resolve({ code: 127 }));
    });
    child.once('close', (code, signal) => {
      void kept.then(() => resolve(signal === null ? { code: code ?? 1 } : { signal }));
    });
  });
  const stop: Child['stop'] = (signal = 'SIGTERM', graceMs = 10_000) => {
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    return exited.finally(() => clearTimeout(timer));
  };
  return {
    ...{ pid: child.pid ?? -1, exited, stop },
    lastLines: () => lines.slice(-KEPT_LINES),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

/**
 * Runs a command until it exits. Ctrl-C does not reach it. @throws Error with its last lines unless it exits with 0.
 */
export async function runChild(options: ChildOptions): Promise<void> {
  const child = startChild(options);
  const status = await child.exited;
  if (!('code' in status) || status.code !== 0)
    throw new Error(child.lastLines().join('\n') || describeExit(status));
}

/** `exit code 1` or `killed by SIGKILL`. */
export function describeExit(status: ExitStatus): string {
  return 'code' in status ? `exit code ${status.code}` : `killed by ${status.signal}`;
}

/**
 * The prefix of a command that makes the kernel send `signal` to it when this process dies. Empty if `setpriv` is
 * not available.
 */
export function dieWithParent(signal: string): readonly string[] {
  return canSetpriv() ? ['setpriv', '--pdeathsig', signal, '--'] : [];
}

let setprivWorks: boolean | undefined;
function canSetpriv(): boolean {
  setprivWorks ??= spawnSync('setpriv', ['--pdeathsig', 'TERM', '--', 'true']).status === 0;
  return setprivWorks;
}

/**
 * Appends the output to the log file. What cannot be written, as while the disk is full, is lost.
 * @returns the last lines of the output, and a promise that resolves when all that could be written is in the file
 */
function keepOutput(child: ChildProcess, logFile: string) {
  const lines: string[] = [];
  let rest = '';
  let isLost = false;
  const write = async (chunk: Buffer): Promise<void> => {
    try {
      await appendFile(logFile, chunk);
      isLost = false;
    } catch (error) {
      if (!isLost) lines.push(`${logFile} cannot be written: ${(error as Error).message}`);
      isLost = true;
    }
  };
  // The file is there from the start, and a path that cannot be opened is told.
  let written = write(Buffer.alloc(0));
  const keep = (chunk: Buffer): void => {
    written = written.then(() => write(chunk));
    const parts = (rest + chunk.toString('utf8')).split('\n');
    rest = (parts.pop() ?? '').slice(-10_000);
    lines.push(...parts.filter((line) => line !== ''));
    lines.splice(0, lines.length - KEPT_LINES);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const kept = new Promise<void>((resolve) => {
    child.once('close', () => {
      if (rest !== '') lines.push(rest);
      resolve(written);
    });
  });
  return { lines, kept };
}
