import { Counter, type Registry } from 'prom-client';
import type { Job } from './job.js';

/** Counts how runs end on this replica. */
export class JobMetrics {
  private readonly runs: Counter<'job' | 'result'>;

  constructor(registry: Registry, jobs: readonly Job[]) {
    this.runs = new Counter({
      name: 'weir_job_runs_total',
      help: 'Runs of background jobs on this replica; a run that is tried again counts each time',
      labelNames: ['job', 'result'],
      registers: [registry],
    });
    // From the start, so that an alert can tell a job that never ran from one that is not known.
    for (const { name } of jobs) {
      this.runs.inc({ job: name, result: 'completed' }, 0);
      this.runs.inc({ job: name, result: 'failed' }, 0);
    }
  }

  completed(name: string): void {
    this.runs.inc({ job: name, result: 'completed' });
  }

  failed(name: string): void {
    this.runs.inc({ job: name, result: 'failed' });
  }
}
