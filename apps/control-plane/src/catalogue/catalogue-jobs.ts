import type { Job } from '../platform/jobs/job.js';
import type { CatalogueKeeper } from './catalogue-keeper.js';

/**
 * What keeps the catalogue up to date. Two jobs, so that a URL that answers slowly holds up nothing that lies in the folder. A run that
 * fails needs no other attempt: the next one is near, and each source has its own pause after a failure.
 */
export function catalogueJobs(keeper: CatalogueKeeper, everyMs: number): Job[] {
  const schedule = { everyMs, attempts: 1, firstPauseMs: everyMs };
  return [
    { name: 'catalogue-look', ...schedule, run: (signal) => keeper.look(signal) },
    { name: 'catalogue-sources', ...schedule, run: (signal) => keeper.refreshUrls(signal) },
  ];
}
