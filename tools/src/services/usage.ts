/** What processes use (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

/** Fields of /proc/PID/stat from the third on, see proc_pid_stat(5). Ticks are of 10 ms. */
function statOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
}

/** User and system time of a process so far, in ms, all threads together. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Processor time of a process and of its children, those that have ended too, in ms. */
export function familyCpuMs(parent: number): number {
  const [, , childUser, childSystem] = statOf(parent).slice(11, 15).map(Number);
  let sum = cpuMs(parent) + (childUser + childSystem) * 10;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (Number(statOf(Number(pid))[1]) === parent) sum += cpuMs(Number(pid));
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

/** Resident memory of a process: now, or the most that it had. */
export function residentMiB(pid: number, when: 'now' | 'peak'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = when === 'now' ? 'VmRSS' : 'VmHWM';
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Math.round(Number(kib) / 1_024);
}
