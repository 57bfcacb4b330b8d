import { readdirSync, readFileSync } from 'node:fs';
import { cpuMs } from '../services/control-plane.js';
import type { BenchServices } from './services.js';

/** Processor time of the control plane and PostgreSQL since its creation. */
export class Usage {
  private readonly pid: number;
  private readonly postgresPid: number;
  private readonly controlPlaneMs: number;
  private readonly postgresMs: number;

  constructor({ controlPlane, postgresPid }: Pick<BenchServices, 'controlPlane' | 'postgresPid'>) {
    this.pid = controlPlane.pid;
    this.postgresPid = postgresPid;
    this.controlPlaneMs = cpuMs(this.pid);
    this.postgresMs = familyCpuMs(postgresPid);
  }

  show(): string {
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    const controlPlane = seconds(cpuMs(this.pid) - this.controlPlaneMs);
    const postgres = seconds(familyCpuMs(this.postgresPid) - this.postgresMs);
    return `processor time: control plane ${controlPlane} s, PostgreSQL ${postgres} s`;
  }
}

/** Processor time of a process and of its children, those that have ended too, in ms (Linux). */
function familyCpuMs(parent: number): number {
  let sum = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      const isParent = Number(pid) === parent;
      if (!isParent && Number(fields[1]) !== parent) continue;
      const times = isParent ? fields.slice(11, 15) : fields.slice(11, 13);
      sum += times.reduce((all, ticks) => all + Number(ticks) * 10, 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}
