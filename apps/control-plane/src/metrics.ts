import {
  type ChangePublisher,
  FOLLOWER_KINDS,
  type FollowerKind,
  type FollowerState,
} from '@weir/change-feed';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Database } from './database/database.js';
import type { DatabaseFeedSource } from './feed/database-feed-source.js';

/** What the control plane tells of itself besides its requests. */
export function createRegistry(
  database: Database,
  source: Pick<DatabaseFeedSource, 'lastRevision'>,
  publisher: Pick<ChangePublisher, 'followers'>,
): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'weir_control_plane_' });
  gauge(
    registry,
    'weir_database_connections',
    'Connections to PostgreSQL',
    () => database.usage.total,
  );
  gauge(
    registry,
    'weir_database_connections_idle',
    'Of them, not in use',
    () => database.usage.idle,
  );
  gauge(
    registry,
    'weir_database_waiting',
    'Requests that wait for a connection to PostgreSQL',
    () => database.usage.waiting,
  );
  gauge(registry, 'weir_config_revision', 'Head of the change log', () => source.lastRevision);
  followerGauges(registry, publisher);
  return registry;
}

/** By kind, never by follower: each start of one makes a new id. */
function followerGauges(registry: Registry, publisher: Pick<ChangePublisher, 'followers'>): void {
  const ofKind = (kind: FollowerKind): readonly FollowerState[] =>
    publisher.followers().filter((follower) => follower.kind === kind);
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
    help: 'Oldest revision in force on any of them; absent where there is none',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const kind of FOLLOWER_KINDS) {
        const revisions = ofKind(kind).map(({ revision }) => revision ?? 0);
        if (revisions.length > 0) this.set({ kind }, Math.min(...revisions));
      }
    },
  });
}

/** A gauge read when it is asked for. Values that are not finite are left out. */
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
