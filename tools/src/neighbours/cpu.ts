import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Processor time of a thread, in milliseconds. */
interface CpuTime {
  readonly runningMs: number;
  /** Time in which it could have run, but others had the processor. */
  readonly waitingMs: number;
}

/** Threads of a resolver whose names begin like this. */
function threadsOf(pid: number, name: string): number[] {
  const nameOf = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8');
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.filter((thread) => nameOf(thread).startsWith(name)).map(Number);
}

/** Of TCP, TLS and HTTPS. The first is the main thread. */
function streamLanes(pid: number): number[] {
  return [pid, ...threadsOf(pid, 'stream lane ')];
}

/** The threads of a resolver that answer queries. */
function answeringThreads(pid: number): number[] {
  return [...streamLanes(pid), ...threadsOf(pid, 'lane ')];
}

/** Of the threads that answer queries. */
export function readCpuTimes(pid: number): readonly CpuTime[] {
  return answeringThreads(pid).map((thread) => {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
    const [runningNs, waitingNs] = text.split(' ').map(Number);
    return { runningMs: runningNs / 1e6, waitingMs: waitingNs / 1e6 };
  });
}

/**
 * What these threads did between two readings. They share a processor, so each waits while another one runs: that is
 * not the fault of other processes, and does not count.
 */
export function cpuBetween(before: readonly CpuTime[], after: readonly CpuTime[]): CpuTime {
  const times = after.map(({ runningMs, waitingMs }, i) => ({
    runningMs: runningMs - (before[i]?.runningMs ?? 0),
    waitingMs: waitingMs - (before[i]?.waitingMs ?? 0),
  }));
  const runningMs = times.reduce((sum, time) => sum + time.runningMs, 0);
  const waiting = times.map((time) => time.waitingMs - (runningMs - time.runningMs));
  return { runningMs, waitingMs: Math.max(0, ...waiting) };
}

/** Reads a list such as `0,2-4`. */
export function parseProcessors(list: string): readonly number[] {
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const [, ALLOWED = '0'] =
  /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
/** With one processor nothing can be kept apart. */
const [FIRST, ...OTHERS] = parseProcessors(ALLOWED);

/** What the two functions below do, in words. */
export const LAYOUT =
  OTHERS.length === 0
    ? 'all on one processor'
    : `resolver on processor ${FIRST}, everything else on ${OTHERS.join(', ')}`;

/** This process and the processes that it starts from now on leave the first processor to the resolver. */
export function keepLoadAway(): void {
  pin('-acp', OTHERS, process.pid);
}

/** Only the threads that answer are on the first processor: the garbage collector helps on the others. */
export function pinResolver(pid: number): void {
  pin('-acp', OTHERS, pid);
  for (const thread of answeringThreads(pid)) pin('-cp', [FIRST], thread);
}

function pin(options: string, processors: readonly number[], pid: number): void {
  if (OTHERS.length > 0) spawnSync('taskset', [options, processors.join(','), String(pid)]);
}

/**
 * Runs the process before all ordinary ones, and before real-time processes with a lower priority. Its helper threads
 * come before its main thread and its stream lanes, which would wait for them in a loop. Processes that it starts
 * are ordinary ones.
 * Where only root may do this, nothing changes: the measured waiting time tells whether others were in the way.
 */
export function prefer(pid: number, priority: number): void {
  spawnSync('chrt', ['-a', '-R', '-f', '-p', String(priority + 1), String(pid)]);
  for (const thread of streamLanes(pid))
    spawnSync('chrt', ['-R', '-f', '-p', String(priority), String(thread)]);
}
