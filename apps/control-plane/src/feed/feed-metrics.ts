import type { FeedDownloads, KeptSnapshots } from '@weir/change-feed';
import { Counter, Gauge, type Registry } from 'prom-client';

const KINDS = { snapshot: 'snapshots', image: 'images' } as const;

/** Metrics of the snapshot that is kept on this replica, and of its downloads. */
export function registerFeedMetrics(
  registry: Registry,
  snapshots: Pick<KeptSnapshots, 'made' | 'failed' | 'kept'>,
  downloads: FeedDownloads,
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
}
