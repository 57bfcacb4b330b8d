import type { OnApplicationShutdown } from '@nestjs/common';
import {
  createFeedServer,
  type Deployment,
  feedDownloads,
  KeptDeltas,
  KeptSnapshots,
  type Traced,
} from '@weir/change-feed';
import type { LogPoint } from '@weir/config-model';
import type { Logger, TlsIdentity } from '@weir/ops';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import type { Registry } from 'prom-client';
import type { ControlPlaneConfiguration } from '../configuration.js';
import { isDatabaseUnreachable } from '../platform/database/database-errors.js';
import type { DatabaseFeedSource } from './database-feed-source.js';
import { registerFeedMetrics } from './feed-metrics.js';

export interface FeedApiOptions {
  readonly configuration: Pick<
    ControlPlaneConfiguration,
    'FEED_DIR' | 'FEED_DOWNLOADS' | 'SNAPSHOT_MAX_AGE_S' | 'SNAPSHOT_MAX_REVISIONS'
  >;
  readonly deployment: Deployment;
  /** Null: HTTP. */
  readonly tls: TlsIdentity | null;
  readonly source: DatabaseFeedSource;
  readonly registry: Registry;
  /** The trace of a change that was published lately. */
  readonly traceOf: (point: LogPoint) => Traced;
  readonly log: Logger;
}

/** The feed API with its metrics. Its server does not listen yet. */
export class FeedApi implements OnApplicationShutdown {
  readonly server: Server;
  private readonly snapshots: KeptSnapshots;
  private readonly deltas: KeptDeltas;

  constructor({ configuration, deployment, tls, source, registry, traceOf, log }: FeedApiOptions) {
    const folder = configuration.FEED_DIR ?? tmpdir();
    const isOutage = isDatabaseUnreachable;
    this.deltas = new KeptDeltas({ folder, source, log, isOutage });
    this.snapshots = new KeptSnapshots({
      folder,
      source,
      log,
      maxAgeMs: configuration.SNAPSHOT_MAX_AGE_S * 1000,
      maxRevisions: configuration.SNAPSHOT_MAX_REVISIONS,
    });
    const { snapshots, deltas } = this;
    const downloads = feedDownloads(configuration.FEED_DOWNLOADS);
    registerFeedMetrics(registry, { snapshots, deltas, downloads });
    this.server = createFeedServer({
      ...{ source, tokens: deployment.tokens, tls, log, isOutage },
      ...{ snapshots, deltas, downloads, traceOf },
    });
  }

  onApplicationShutdown(): void {
    this.snapshots.close();
    this.deltas.close();
  }
}
