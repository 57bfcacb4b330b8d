import { ReadMetrics, registerFeedFileMetrics } from '@weir/ops/metrics';
import type { Registry } from 'prom-client';
import type { FeedState } from './feed-state.js';

type Count = 'changesApplied' | 'duplicates' | 'gaps' | 'feedFailures' | 'digestMismatches';

const COUNTERS: Readonly<Record<string, { count: Count; help: string }>> = {
  changes_applied_total: { count: 'changesApplied', help: 'Changes applied' },
  change_duplicates_total: {
    count: 'duplicates',
    help: 'Changes received that were in force already',
  },
  change_gaps_total: {
    count: 'gaps',
    help: 'Requests to the feed API because a newer revision was announced and its changes were not received',
  },
  feed_failures_total: {
    count: 'feedFailures',
    help: 'Steps of following the change log that failed and were retried',
  },
  digest_mismatches_total: {
    count: 'digestMismatches',
    help: 'Configurations with another digest than the control plane: in force, or loaded and rejected',
  },
};

/** Registers the metrics of a follower, read at each scrape. @param prefix such as `weir_resolver_` */
export function registerFeedMetrics(
  registry: Registry,
  prefix: string,
  state: () => FeedState,
): void {
  const metrics = new ReadMetrics(registry, prefix);
  const revision = (): number => state().revision ?? -1;
  const headRevision = (): number => state().headRevision ?? -1;
  metrics.gauge('revision', 'Revision in force; -1 before the first snapshot', revision);
  metrics.gauge('head_revision', 'Newest revision received; -1 before any', headRevision);
  metrics.gauge('lag_revisions', 'Revisions received that are not in force', () =>
    Math.max(0, headRevision() - revision()),
  );
  metrics.gauge(
    'lag_seconds',
    'Time since the configuration in force was last known to be the newest; below 2 while all is well',
    () => state().lagMs / 1000,
  );
  metrics.gauge(
    'redis_connected',
    '1: changes come from Redis; 0: they are fetched from the feed API',
    () => (state().isRedisConnected ? 1 : 0),
  );
  metrics.gauge(
    'disk_current',
    '1: a start from disk would have the configuration in force and its catalogue image, or there is no disk ' +
      '(DATA_DIR); 0: the disk fails, does not answer, or has not got them yet',
    () => (state().isDiskCurrent ? 1 : 0),
  );
  metrics.gauge(
    'catalogue_image_missing_seconds',
    'How long the image of the active catalogue has been missing, while the one before is in use; 0: it is in use',
    () => (state().missingImage?.forMs ?? 0) / 1000,
  );
  metrics.counter(
    'disk_failures_total',
    'Errors of the disk, and calls that it did not answer in time',
    () => state().diskFailures,
  );
  metrics.counter(
    'catalogue_image_failures_total',
    'Attempts to fetch the image of the active catalogue that failed and are repeated',
    () => state().imageFailures,
  );
  metrics.counter(
    'catalogue_delta_faults_total',
    'Deltas of catalogue images that were damaged or wrong; the image was fetched whole',
    () => state().imageCounters.deltaFaults,
  );
  metrics.counters(
    'catalogue_images_fetched_total',
    'Catalogue images fetched from the control plane: whole, or as the delta to the image in use',
    ['as'],
    () => {
      const { whole, built } = state().imageCounters;
      return [
        [{ as: 'whole' }, whole],
        [{ as: 'delta' }, built],
      ];
    },
  );
  for (const [name, { count, help }] of Object.entries(COUNTERS)) {
    metrics.counter(name, help, () => state().counters[count]);
  }
  metrics.counters(
    'redis_messages_refused_total',
    'Messages on Redis that were ignored: forged, replayed, or stale',
    ['reason'],
    () => Object.entries(state().refusedMessages).map(([reason, n]) => [{ reason }, n]),
  );
  metrics.counters(
    'snapshot_loads_total',
    'Whole configurations put in force, by what led to it: a start from disk or from the feed API, POST /init/ ' +
      '(replaced), a log that does not reach back (pruned), another database (lineage), another digest (digest), or ' +
      'changes that could not be fetched or applied (failed)',
    ['cause'],
    () => Object.entries(state().counters.loads).map(([cause, n]) => [{ cause }, n]),
  );
  registerFeedFileMetrics(registry, {
    FEED_TOKENS_FILE: () => state().fileFaults.FEED_TOKENS_FILE,
    FEED_CA: () => state().fileFaults.FEED_CA,
  });
}
