import {
  type ChangePublisher,
  FOLLOWER_KINDS,
  type FollowerKind,
  type FollowerState,
} from '@weir/change-feed';
import { ReadMetrics, registerRuntimeMetrics } from '@weir/ops/metrics';
import type { Registry } from 'prom-client';
import type { DatabaseFeedSource } from '../feed/database-feed-source.js';
import type { Database } from '../platform/database/database.js';
import { withTimeout } from '../platform/database/with-timeout.js';

/** Registers the metrics of the process, the database, Redis, the change log and the followers. */
export function registerMetrics(
  registry: Registry,
  database: Database,
  source: DatabaseFeedSource,
  publisher: ChangePublisher,
): void {
  registerRuntimeMetrics(registry, 'weir_control_plane_');
  registry.registerMetric(database.waits);
  const metrics = new ReadMetrics(registry, 'weir_');
  registerDatabaseMetrics(metrics, database);
  metrics.gauge(
    'config_revision',
    'Newest revision of the configuration',
    () => source.lastHead?.revision ?? 0,
  );
  registerFollowerMetrics(metrics, source, publisher);
  metrics.gauge(
    'resolvers_missing',
    'Resolvers that fell silent without saying that they stop, and may still be answering queries',
    () => publisher.missingResolvers,
  );
  metrics.gauge(
    'redis_connected',
    '1 when Redis answers, and lets this process publish and subscribe',
    () => (publisher.connected ? 1 : 0),
  );
  metrics.counters(
    'redis_messages_refused_total',
    'Messages on Redis that were ignored: forged, replayed, or stale',
    ['reason'],
    () => Object.entries(publisher.refusedMessages).map(([reason, n]) => [{ reason }, n]),
  );
}

function registerDatabaseMetrics(metrics: ReadMetrics, database: Database): void {
  for (const [name, help, counter] of [
    ['database_connections', 'Connections to PostgreSQL', 'totalCount'],
    ['database_connections_idle', 'Idle connections to PostgreSQL', 'idleCount'],
    ['database_waiting', 'Requests that wait for a connection to PostgreSQL', 'waitingCount'],
  ] as const) {
    metrics.gauge(name, help, () => database.connections(counter));
  }
  // With a timeout, because a scrape must not wait for a database that hangs.
  metrics.gauge('database_reachable', '1 when PostgreSQL answers within 1.5 seconds', () =>
    withTimeout(
      database.probe().then(
        () => 1,
        () => 0,
      ),
      0,
    ),
  );
}

/** Labelled by kind and not by follower, because each start of a follower has a new id. */
function registerFollowerMetrics(
  metrics: ReadMetrics,
  source: DatabaseFeedSource,
  publisher: ChangePublisher,
): void {
  const ofKind = (kind: FollowerKind): readonly FollowerState[] =>
    publisher.followers().filter((follower) => follower.kind === kind);
  // A follower with the lineage of before a restore has nothing of this configuration.
  const revisionOf = ({ inForce }: FollowerState): number =>
    inForce !== null && inForce.lineage === source.lastHead?.lineage ? inForce.revision : 0;
  metrics.gauges('followers', 'Live resolvers and block pages', ['kind'], () =>
    FOLLOWER_KINDS.map((kind) => [{ kind }, ofKind(kind).length]),
  );
  metrics.gauges(
    'followers_oldest_revision',
    'Oldest revision in force on a live follower; absent without followers',
    ['kind'],
    () =>
      FOLLOWER_KINDS.flatMap((kind) => {
        const revisions = ofKind(kind).map(revisionOf);
        return revisions.length === 0 ? [] : [[{ kind }, Math.min(...revisions)]];
      }),
  );
}
