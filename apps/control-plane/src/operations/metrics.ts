import {
  type ChangePublisher,
  FOLLOWER_KINDS,
  type FollowerKind,
  type FollowerState,
} from '@weir/change-feed';
import { registerRuntimeMetrics } from '@weir/ops';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DatabaseFeedSource } from '../feed/database-feed-source.js';
import type { Database } from '../platform/database/database.js';
import { withTimeout } from '../platform/database/with-timeout.js';

/** Registers the metrics of the process, the database, Redis, the change log and the followers. */
export function registerMetrics(
  registry: Registry,
  database: Database,
  source: Pick<DatabaseFeedSource, 'lastHead'>,
  publisher: Pick<
    ChangePublisher,
    'followers' | 'missingResolvers' | 'connected' | 'refusedMessages'
  >,
): void {
  registerRuntimeMetrics(registry, 'weir_control_plane_');
  gauge(
    registry,
    'weir_database_connections',
    'Connections to PostgreSQL',
    () => database.usage.total,
  );
  gauge(
    registry,
    'weir_database_connections_idle',
    'Idle connections to PostgreSQL',
    () => database.usage.idle,
  );
  gauge(
    registry,
    'weir_database_waiting',
    'Requests that wait for a connection to PostgreSQL',
    () => database.usage.waiting,
  );
  registry.registerMetric(database.waits.metric);
  gauge(registry, 'weir_redis_connected', '1 when Redis is connected and answers', () =>
    publisher.connected ? 1 : 0,
  );
  databaseReachableGauge(registry, database);
  const lastRevision = (): number => source.lastHead?.revision ?? 0;
  gauge(registry, 'weir_config_revision', 'Newest revision of the configuration', lastRevision);
  followerGauges(registry, source, publisher);
  gauge(
    registry,
    'weir_resolvers_missing',
    'Resolvers that fell silent without saying that they stop, and may still be answering queries',
    () => publisher.missingResolvers,
  );
  new Counter({
    name: 'weir_redis_messages_refused_total',
    help: 'Messages on Redis that were ignored: forged, replayed, or stale',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, n] of Object.entries(publisher.refusedMessages)) this.inc({ reason }, n);
    },
  });
}

/** Queried at each scrape, with a timeout, because a scrape must not wait for a database that hangs. */
function databaseReachableGauge(registry: Registry, database: Pick<Database, 'probe'>): void {
  new Gauge({
    name: 'weir_database_reachable',
    help: '1 when PostgreSQL answers within 1.5 seconds',
    registers: [registry],
    async collect() {
      const answered = database.probe().then(
        () => 1,
        () => 0,
      );
      this.set(await withTimeout(answered, 0));
    },
  });
}

/** Labelled by kind and not by follower, because each start of a follower has a new id. */
function followerGauges(
  registry: Registry,
  source: Pick<DatabaseFeedSource, 'lastHead'>,
  publisher: Pick<ChangePublisher, 'followers'>,
): void {
  const ofKind = (kind: FollowerKind): readonly FollowerState[] =>
    publisher.followers().filter((follower) => follower.kind === kind);
  // A follower with the lineage of before a restore has nothing of this configuration.
  const revisionOf = ({ inForce }: FollowerState): number =>
    inForce !== null && inForce.lineage === source.lastHead?.lineage ? inForce.revision : 0;
  new Gauge({
    name: 'weir_followers',
    help: 'Live resolvers and block pages',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of FOLLOWER_KINDS) this.set({ kind }, ofKind(kind).length);
    },
  });
  new Gauge({
    name: 'weir_followers_oldest_revision',
    help: 'Oldest revision in force on a live follower; absent without followers',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const kind of FOLLOWER_KINDS) {
        const revisions = ofKind(kind).map(revisionOf);
        if (revisions.length > 0) this.set({ kind }, Math.min(...revisions));
      }
    },
  });
}

/** A gauge that is read at each scrape. Values that are not finite are left out. */
export function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      const value = read();
      if (Number.isFinite(value)) this.set(value);
      else this.reset();
    },
  });
}
