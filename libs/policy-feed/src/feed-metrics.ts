import type { Follower } from '@weir/change-feed';
import { Counter, type Registry } from 'prom-client';
import { registerReadGauge } from './read-gauge.js';

type FollowerState = Pick<
  Follower,
  'revision' | 'headRevision' | 'lagMs' | 'isRedisConnected' | 'counters'
>;
type Count = 'changesApplied' | 'duplicates' | 'gaps' | 'feedFailures' | 'digestMismatches';

const COUNTERS: Readonly<Record<string, { count: Count; help: string }>> = {
  changes_applied_total: { count: 'changesApplied', help: 'Changes applied' },
  change_duplicates_total: {
    count: 'duplicates',
    help: 'Changes heard of that were in force already',
  },
  change_gaps_total: {
    count: 'gaps',
    help: 'Times that the feed API was asked for changes that had not been heard',
  },
  feed_failures_total: { count: 'feedFailures', help: 'Failed steps of following the change log' },
  digest_mismatches_total: {
    count: 'digestMismatches',
    help: 'Configurations that differed from the control plane: in force, or just loaded and refused',
  },
};

/**
 * How far a process has the configuration, read from its follower when Prometheus asks.
 * @param prefix what the names begin with, such as `weir_resolver_`
 */
export function registerFeedMetrics(
  registry: Registry,
  prefix: string,
  follower: FollowerState,
): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    registerReadGauge(registry, `${prefix}${name}`, help, value);
  };
  const revision = (): number => follower.revision ?? -1;
  const headRevision = (): number => follower.headRevision ?? -1;
  gauge('revision', 'Revision in force; -1 before the first snapshot', revision);
  gauge('head_revision', 'Newest revision heard of; -1 before any', headRevision);
  gauge('lag_revisions', 'Revisions heard of that are not in force', () =>
    Math.max(0, headRevision() - revision()),
  );
  gauge(
    'lag_seconds',
    'Time since the configuration in force was last known to be the newest; below 2 while all is well',
    () => follower.lagMs / 1000,
  );
  gauge('redis_connected', '1: changes are heard from Redis; 0: they are asked of the feed', () =>
    follower.isRedisConnected ? 1 : 0,
  );
  for (const [name, { count, help }] of Object.entries(COUNTERS)) {
    new Counter({
      name: `${prefix}${name}`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(follower.counters[count]);
      },
    });
  }
  new Counter({
    name: `${prefix}snapshot_loads_total`,
    help: 'Snapshots loaded',
    labelNames: ['cause'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [cause, n] of Object.entries(follower.counters.loads)) this.inc({ cause }, n);
    },
  });
}
