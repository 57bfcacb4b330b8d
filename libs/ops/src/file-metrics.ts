import type { Registry } from 'prom-client';
import { ReadMetrics } from './read-metrics.js';

/** Number of checks at which a file was not usable, by the variable that names it. */
export type FeedFileFaults = Readonly<
  Partial<Record<'FEED_TOKENS_FILE' | 'FEED_CA', () => number>>
>;

export function registerFeedFileMetrics(registry: Registry, faults: FeedFileFaults): void {
  new ReadMetrics(registry, 'weir_').counters(
    'feed_file_faults_total',
    'Checks at which a file for the feed API was not usable; what it had before stays in force',
    ['variable'],
    () => Object.entries(faults).map(([variable, count]) => [{ variable }, count()]),
  );
}

/** @param faults by prefix of the variables that name the files, such as `MANAGEMENT_TLS`: see `TlsIdentity.faults` */
export function registerTlsMetrics(
  registry: Registry,
  faults: Readonly<Record<string, () => number>>,
): void {
  new ReadMetrics(registry, 'weir_').counters(
    'tls_file_faults_total',
    'Checks at which the files of a TLS certificate were not usable; the ones before stay in use',
    ['files'],
    () => Object.entries(faults).map(([files, count]) => [{ files }, count()]),
  );
}
