import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerFeedMetrics } from './feed-metrics.js';

it('registers the metrics of the follower under names with the prefix', async () => {
  const registry = new Registry();
  registerFeedMetrics(registry, 'weir_example_', () => ({
    revision: 7,
    headRevision: 9,
    lagMs: 1500,
    isRedisConnected: true,
    isDiskCurrent: true,
    diskFailures: 6,
    missingImage: { sha256: 'ab', forMs: 2500 },
    imageFailures: 3,
    imageCounters: { whole: 2, built: 9, deltaFaults: 1 },
    refusedMessages: { forged: 4, replayed: 3, stale: 2 },
    counters: {
      changesApplied: 5,
      duplicates: 4,
      gaps: 3,
      feedFailures: 2,
      digestMismatches: 1,
      loads: { disk: 1, start: 1, replaced: 0, pruned: 0, lineage: 0, digest: 0, failed: 0 },
    },
    isCaughtUp: true,
    inForceForMs: 1,
    hasCatalogue: true,
    fileFaults: { FEED_TOKENS_FILE: 2, FEED_CA: 0 },
  }));
  const lines = (await registry.metrics()).split('\n');
  expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'weir_example_revision 7',
    'weir_example_head_revision 9',
    'weir_example_lag_revisions 2',
    'weir_example_lag_seconds 1.5',
    'weir_example_redis_connected 1',
    'weir_example_disk_current 1',
    'weir_example_catalogue_image_missing_seconds 2.5',
    'weir_example_disk_failures_total 6',
    'weir_example_catalogue_image_failures_total 3',
    'weir_example_catalogue_delta_faults_total 1',
    'weir_example_catalogue_images_fetched_total{as="whole"} 2',
    'weir_example_catalogue_images_fetched_total{as="delta"} 9',
    'weir_example_changes_applied_total 5',
    'weir_example_change_duplicates_total 4',
    'weir_example_change_gaps_total 3',
    'weir_example_feed_failures_total 2',
    'weir_example_digest_mismatches_total 1',
    'weir_example_redis_messages_refused_total{reason="forged"} 4',
    'weir_example_redis_messages_refused_total{reason="replayed"} 3',
    'weir_example_redis_messages_refused_total{reason="stale"} 2',
    'weir_example_snapshot_loads_total{cause="disk"} 1',
    'weir_example_snapshot_loads_total{cause="start"} 1',
    'weir_example_snapshot_loads_total{cause="replaced"} 0',
    'weir_example_snapshot_loads_total{cause="pruned"} 0',
    'weir_example_snapshot_loads_total{cause="lineage"} 0',
    'weir_example_snapshot_loads_total{cause="digest"} 0',
    'weir_example_snapshot_loads_total{cause="failed"} 0',
    'weir_feed_file_faults_total{variable="FEED_TOKENS_FILE"} 2',
    'weir_feed_file_faults_total{variable="FEED_CA"} 0',
  ]);
});
