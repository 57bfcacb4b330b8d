import { readFileSync } from 'node:fs';

/** Columns of proc_pid_stat(5) after the name of the thread, which may have spaces. */
const STATE = 0;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
/** USER_HZ, which is the same on all architectures of Linux that have lanes. */
const TICKS_PER_SECOND = 100;

export interface ThreadState {
  /** Whether it runs, or waits for a processor only. */
  readonly isRunnable: boolean;
  /** Processor time. */
  readonly cpuSeconds: number;
}

const ENDED: ThreadState = { isRunnable: false, cpuSeconds: 0 };

/** What a thread of this process does now. */
export function readThread(threadId: number): ThreadState {
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    const columns = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(columns[USER_TICKS]) + Number(columns[SYSTEM_TICKS]);
    return { isRunnable: columns[STATE] === 'R', cpuSeconds: ticks / TICKS_PER_SECOND };
  } catch {
    return ENDED;
  }
}
