import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Processor time of threads, in milliseconds. */
export interface CpuTime {
  readonly runningMs: number;
  /** Time in which it could have run, but others had the processor. */
  readonly waitingMs: number;
}

const NO_TIME: CpuTime = { runningMs: 0, waitingMs: 0 };
const NANOSECONDS = 1e6;

/** Reads the processor time of the threads of a resolver that answer queries: the main thread and the lanes. */
export function readCpuTimes(pid: number): readonly CpuTime[] {
  return [pid, ...lanesOf(pid)].map((thread) => readThread(pid, thread));
}

/**
 * What these threads did between two readings. They share a processor, so each waits while another one runs: that is
 * not the fault of other processes, and does not count.
 */
export function cpuBetween(before: readonly CpuTime[], after: readonly CpuTime[]): CpuTime {
  const times = after.map((time, i) => ({
    runningMs: time.runningMs - (before[i] ?? NO_TIME).runningMs,
    waitingMs: time.waitingMs - (before[i] ?? NO_TIME).waitingMs,
  }));
  const runningMs = times.reduce((sum, time) => sum + time.runningMs, 0);
  const waiting = times.map((time) => time.waitingMs - (runningMs - time.runningMs));
  return { runningMs, waitingMs: Math.max(0, ...waiting) };
}

/** The threads that answer UDP queries from memory. */
function lanesOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map(Number)
      .filter((thread) => nameOf(pid, thread).startsWith('lane '));
  } catch {
    return []; // not Linux
  }
}

function nameOf(pid: number, thread: number): string {
  return readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8');
}

/** 0 where the kernel does not tell. */
function readThread(pid: number, thread: number): CpuTime {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
    const [running = 0, waiting = 0] = text.split(' ').map(Number);
    return { runningMs: running / NANOSECONDS, waitingMs: waiting / NANOSECONDS };
  } catch {
    return NO_TIME; // not Linux, or a kernel without CONFIG_SCHED_INFO
  }
}

/** Keeps the threads of the resolver that answer on a processor of their own, and all that makes load on the others. */
export class Processors {
  private constructor(private readonly all: readonly number[]) {}

  /** Reads which processors this process may use. */
  static read(): Processors {
    const { stdout } = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
    return new Processors(parseProcessors(stdout ?? ''));
  }

  /** What was done, in words. */
  get description(): string {
    if (!this.canSeparate) return 'not pinned: needs taskset and two processors';
    const [first, ...rest] = this.all;
    return `resolver on processor ${first}, everything else on ${rest.join(', ')}`;
  }

  /** This process and the processes that it starts from now on leave the first processor to the resolver. */
  keepLoadAway(): void {
    if (this.canSeparate) pin('-acp', this.all.slice(1), process.pid);
  }

  /** Only the main thread and the lanes, which answer queries, are there: the garbage collector helps on the others. */
  pinResolver(pid: number): void {
    if (!this.canSeparate) return;
    pin('-acp', this.all.slice(1), pid);
    for (const thread of [pid, ...lanesOf(pid)]) pin('-cp', this.all.slice(0, 1), thread);
  }

  private get canSeparate(): boolean {
    return this.all.length > 1;
  }
}

/** Reads a list such as `pid 7's current affinity list: 0,2-4`. */
export function parseProcessors(text: string): readonly number[] {
  const [, list] = /list: ([\d,-]+)/.exec(text) ?? [];
  if (list === undefined) return [];
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/**
 * Runs the process before all ordinary ones, and before real-time processes with a lower priority. Its helper threads
 * come before its main thread, which would wait for them in a loop. Processes that it starts are ordinary ones.
 * Where only root may do this, nothing changes: the measured waiting time tells whether others were in the way.
 */
export function prefer(pid: number, priority: number): void {
  spawnSync('chrt', ['-a', '-R', '-f', '-p', String(priority + 1), String(pid)]);
  spawnSync('chrt', ['-R', '-f', '-p', String(priority), String(pid)]);
}

function pin(options: string, processors: readonly number[], pid: number): void {
  spawnSync('taskset', [options, processors.join(','), String(pid)]);
}
