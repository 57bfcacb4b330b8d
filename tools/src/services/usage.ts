/** What processes use (Linux). */
import { readFileSync } from 'node:fs';

/** User and system time of a process so far, in ms, all threads together. */
export function cpuMs(pid: number): number {
  // From the third field on, see proc_pid_stat(5). Ticks are of 10 ms.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process: now, or the most that it had. */
export function residentMiB(pid: number, when: 'now' | 'peak'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = when === 'now' ? 'VmRSS' : 'VmHWM';
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Math.round(Number(kib) / 1_024);
}
