import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  createFeedServer,
  type FeedDownloads,
  feedDownloads,
  DeltaCache,
  SnapshotCache,
} from '@weir/change-feed';
import { hasToken } from '@weir/ops';
import { type LabelledValues, ReadMetrics } from '@weir/ops/metrics';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { Registry } from 'prom-client';
import { isDatabaseUnreachable } from '../platform/database/database-errors.js';
import { PROCESS, type Process } from '../process.js';
import { Propagation } from '../revisions/propagation.js';
import { DatabaseFeedSource } from './database-feed-source.js';

/** The feed API with its metrics. Its server does not listen yet. */
@Injectable()
export class FeedApi implements OnApplicationShutdown {
  readonly server: Server;
  private readonly snapshots: SnapshotCache;
  private readonly deltas: DeltaCache;

  constructor(
    @Inject(PROCESS) { configuration, deployment, feedTls: tls, log }: Process,
    source: DatabaseFeedSource,
    { publisher }: Propagation,
    registry: Registry,
  ) {
    const folder = configuration.FEED_DIR ?? tmpdir();
    const isOutage = isDatabaseUnreachable;
    this.deltas = new DeltaCache({ folder, source, log, isOutage });
    this.snapshots = new SnapshotCache({
      folder,
      source,
      log,
      maxAgeMs: configuration.SNAPSHOT_MAX_AGE_S * 1000,
      maxRevisions: configuration.SNAPSHOT_MAX_REVISIONS,
    });
    const { snapshots, deltas } = this;
    const downloads = feedDownloads(configuration.FEED_DOWNLOADS);
    registerFeedMetrics(registry, snapshots, deltas, downloads);
    this.server = createFeedServer({
      ...{ source, tls, log, isOutage },
      isAuthorised: (authorization) => hasToken(authorization, deployment.tokens()),
      ...{ snapshots, deltas, downloads, traceOf: (point) => publisher.traceOf(point) },
    });
  }

  onApplicationShutdown(): void {
    this.snapshots.close();
    this.deltas.close();
  }
}

/** Metrics of what this replica keeps for followers, and of their downloads. */
function registerFeedMetrics(
  registry: Registry,
  snapshots: SnapshotCache,
  deltas: DeltaCache,
  downloads: FeedDownloads,
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
    () => snapshots.cached?.sizeBytes ?? 0,
  );
  const byKind = (value: 'active' | 'refused') => (): LabelledValues => [
    [{ kind: 'snapshot' }, downloads.snapshots[value]],
    [{ kind: 'image' }, downloads.images[value]],
  ];
  metrics.gauges(
    'feed_downloads',
    'Downloads of snapshots and catalogue images that this replica sends now',
    ['kind'],
    byKind('active'),
  );
  metrics.counters(
    'feed_downloads_refused_total',
    'Downloads that this replica has put off with 503 and Retry-After',
    ['kind'],
    byKind('refused'),
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
  metrics.counters(
    'feed_catalogue_bytes_total',
    'Bytes of catalogue images that this replica has sent, whole or as a delta',
    ['as'],
    sent('bytes'),
  );
}
