import type { FeedDownloads, KeptDeltas, KeptSnapshots } from '@weir/change-feed';
import { Counter, Gauge, type Registry } from 'prom-client';

const KINDS = { snapshot: 'snapshots', image: 'images' } as const;

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
  const registers = [registry];
  new Counter({
    name: 'weir_snapshots_made_total',
    help: 'Snapshots that this replica has made for followers, or failed to make or to keep',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      this.inc({ result: 'made' }, snapshots.made);
      this.inc({ result: 'failed' }, snapshots.failed);
    },
  });
  new Gauge({
    name: 'weir_snapshot_bytes',
    help: 'Size of the snapshot that this replica keeps for followers, compressed; 0: none',
    registers,
    collect() {
      this.set(snapshots.kept?.sizeBytes ?? 0);
    },
  });
  new Gauge({
    name: 'weir_feed_downloads',
    help: 'Downloads of snapshots and catalogue images that this replica sends now',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, name] of Object.entries(KINDS)) this.set({ kind }, downloads[name].active);
    },
  });
  new Counter({
    name: 'weir_feed_downloads_refused_total',
    help: 'Downloads that this replica has put off with 503 and Retry-After',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const [kind, name] of Object.entries(KINDS)) this.inc({ kind }, downloads[name].refused);
    },
  });
  new Counter({
    name: 'weir_catalogue_deltas_total',
    help: 'Deltas between catalogue images: made by this replica, not made because they are too large, or failed',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, n] of Object.entries(deltas.counts)) this.inc({ result }, n);
    },
  });
  registerSent(registry, downloads);
}

function registerSent(registry: Registry, { sent }: FeedDownloads): void {
  const counter = (name: string, help: string, value: 'downloads' | 'bytes'): void => {
    new Counter({
      name,
      help,
      labelNames: ['as'],
      registers: [registry],
      collect() {
        this.reset();
        this.inc({ as: 'whole' }, sent.image[value]);
        this.inc({ as: 'delta' }, sent.delta[value]);
      },
    });
  };
  counter(
    'weir_feed_catalogue_images_total',
    'Catalogue images that this replica has sent, whole or as a delta; one that is continued counts again',
    'downloads',
  );
  counter('weir_feed_catalogue_bytes_total', 'Bytes of them', 'bytes');
}
