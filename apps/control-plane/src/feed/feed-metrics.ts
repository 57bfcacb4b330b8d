import type { FeedDownloads, KeptDeltas, KeptSnapshots } from '@weir/change-feed';
import { type LabelledValues, ReadMetrics } from '@weir/ops';
import type { Registry } from 'prom-client';

export interface FeedMetricsOptions {
  readonly snapshots: Pick<KeptSnapshots, 'made' | 'failed' | 'kept'>;
  readonly deltas: Pick<KeptDeltas, 'counts'>;
  readonly downloads: FeedDownloads;
}

/** Metrics of what this replica keeps for followers, and of their downloads. */
export function registerFeedMetrics(
  registry: Registry,
  { snapshots, deltas, downloads }: FeedMetricsOptions,
): void {
  const metrics = new ReadMetrics(registry, 'weir_');
  metrics.counters(
    'snapshots_made_total',
    'Snapshots that this replica has made for followers, or failed to make or to keep',
    ['result'],
    () => [
      [{ result: 'made' }, snapshots.made],
      [{ result: 'failed' }, snapshots.failed],
    ],
  );
  metrics.gauge(
    'snapshot_bytes',
    'Size of the snapshot that this replica keeps for followers, compressed; 0: none',
    () => snapshots.kept?.sizeBytes ?? 0,
  );
  metrics.gauges(
    'feed_downloads',
    'Downloads of snapshots and catalogue images that this replica sends now',
    ['kind'],
    () => [
      [{ kind: 'snapshot' }, downloads.snapshots.active],
      [{ kind: 'image' }, downloads.images.active],
    ],
  );
  metrics.counters(
    'feed_downloads_refused_total',
    'Downloads that this replica has put off with 503 and Retry-After',
    ['kind'],
    () => [
      [{ kind: 'snapshot' }, downloads.snapshots.refused],
      [{ kind: 'image' }, downloads.images.refused],
    ],
  );
  metrics.counters(
    'catalogue_deltas_total',
    'Deltas between catalogue images: made by this replica, not made because they are too large, or failed',
    ['result'],
    () => Object.entries(deltas.counts).map(([result, n]) => [{ result }, n]),
  );
  const sent = (value: 'downloads' | 'bytes') => (): LabelledValues => [
    [{ as: 'whole' }, downloads.sent.image[value]],
    [{ as: 'delta' }, downloads.sent.delta[value]],
  ];
  metrics.counters(
    'feed_catalogue_images_total',
    'Catalogue images that this replica has sent, whole or as a delta; one that is continued counts again',
    ['as'],
    sent('downloads'),
  );
  metrics.counters('feed_catalogue_bytes_total', 'Bytes of them', ['as'], sent('bytes'));
}
