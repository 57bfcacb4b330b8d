import { Counter, type Registry } from 'prom-client';
import type { Job } from './job.js';

/** Counts the runs of jobs on this replica by their result. */
export class JobMetrics {
  private readonly runs: Counter<'job' | 'result'>;

  constructor(registry: Registry, jobs: readonly Job[]) {
    this.runs = new Counter({
      name: 'weir_job_runs_total',
      help: 'Runs of background jobs on this replica; each attempt counts',
      labelNames: ['job', 'result'],
      registers: [registry],
    });
    // Initialised to 0, so that an alert can distinguish a job that never ran from an unknown job.
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
