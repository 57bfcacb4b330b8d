import { readFileSync } from 'node:fs';

/** Columns of proc_pid_stat(5) after the name of the thread, which may have spaces. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
/** USER_HZ, which is the same on all architectures of Linux that have lanes. */
const TICKS_PER_SECOND = 100;

/** Processor time of a thread of this process. 0 when it has ended. */
export function threadSeconds(threadId: number): number {
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    const columns = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(columns[USER_TICKS]) + Number(columns[SYSTEM_TICKS])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
