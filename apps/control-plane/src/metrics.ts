import type { ChangePublisher, FollowerState } from '@weir/change-feed';
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
    () => database.pool.totalCount,
  );
  gauge(
    registry,
    'weir_database_connections_idle',
    'Of them, not in use',
    () => database.pool.idleCount,
  );
  gauge(
    registry,
    'weir_database_waiting',
    'Requests that wait for a connection to PostgreSQL',
    () => database.pool.waitingCount,
  );
  gauge(registry, 'weir_config_revision', 'Head of the change log', () => source.lastRevision);
  gauge(registry, 'weir_resolvers', 'Live resolvers', () => resolvers().length);
  gauge(registry, 'weir_resolver_revision_min', 'Oldest revision in force on a live resolver', () =>
    Math.min(...resolvers().map(({ revision }) => revision ?? 0)),
  );
  return registry;

  function resolvers(): readonly FollowerState[] {
    return publisher.followers().filter(({ kind }) => kind === 'resolver');
  }
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
