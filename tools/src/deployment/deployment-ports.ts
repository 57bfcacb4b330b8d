import { findFreePorts } from '../services/ports.js';

/** The ports of a deployment; lists have one for each process. */
export interface DeploymentPorts {
  readonly postgres: number;
  readonly redis: number;
  readonly standbyRedis: number;
  readonly redisProxy: number;
  readonly feedProxy: number;
  readonly postgresProxies: readonly number[];
  readonly upstream: number;
  readonly management: readonly number[];
  readonly feed: readonly number[];
  readonly replicaOps: readonly number[];
  readonly dns: readonly number[];
  readonly resolverOps: readonly number[];
  readonly resolverRedis: readonly number[];
  readonly resolverFeed: readonly number[];
  readonly page: readonly number[];
  readonly pageOps: readonly number[];
}

export interface ProcessCounts {
  readonly replicas: number;
  readonly resolvers: number;
  /** Default: none. */
  readonly blockPages?: number;
}

export async function findDeploymentPorts(counts: ProcessCounts): Promise<DeploymentPorts> {
  const { replicas, resolvers, blockPages = 0 } = counts;
  const free = await findFreePorts(6 + 4 * replicas + 4 * resolvers + 2 * blockPages);
  const take = (count: number): number[] => free.splice(0, count);
  const one = (): number => take(1)[0] ?? 0;
  return {
    postgres: one(),
    redis: one(),
    standbyRedis: one(),
    redisProxy: one(),
    feedProxy: one(),
    postgresProxies: take(replicas),
    upstream: one(),
    management: take(replicas),
    feed: take(replicas),
    replicaOps: take(replicas),
    dns: take(resolvers),
    resolverOps: take(resolvers),
    resolverRedis: take(resolvers),
    resolverFeed: take(resolvers),
    page: take(blockPages),
    pageOps: take(blockPages),
  };
}
