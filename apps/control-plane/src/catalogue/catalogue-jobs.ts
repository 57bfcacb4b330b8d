import type { Job } from '../platform/jobs/job.js';
import type { CatalogueUpdater } from './catalogue-updater.js';

/**
 * The jobs that keep the catalogue up to date. There are two, so that a slow URL does not delay changes of the
 * definition and its files. A failed run is not retried: the next one follows soon, and each source has its own retry
 * delay.
 */
export function catalogueJobs(updater: CatalogueUpdater, everyMs: number): Job[] {
  const schedule = { everyMs, attempts: 1, firstRetryDelayMs: everyMs, isQueued: true };
  return [
    { name: 'catalogue-look', ...schedule, run: (signal) => updater.update(signal) },
    { name: 'catalogue-sources', ...schedule, run: (signal) => updater.refreshUrls(signal) },
  ];
}
