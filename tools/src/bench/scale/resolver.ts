import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../../services/child.js';
import { freePort } from '../../services/ports.js';
import { spawnWeir } from '../../services/weir.js';
import { BLOCK_ADDRESS } from '../dns/jobs.js';
import type { GeneratedFeed } from './generated-feed.js';
import { BALANCER } from './generator/client.js';

export interface ResolverOptions {
  readonly root: string;
  /** Holds its data and its log; whatever an earlier process left there is used. */
  readonly folder: string;
  readonly feed: GeneratedFeed;
  readonly redisUrl: string;
  readonly upstreamPort: number;
  /** Command in front of the resolver's. */
  readonly prefix: readonly string[];
}

export interface StartedResolver {
  readonly child: Child;
  readonly port: number;
  /** From its start until /readyz says so. */
  readonly readyMs: number;
}

/** A configuration of full size comes over the feed within this time. */
const READY_DEADLINE_MS = 600_000;

/** Starts a resolver with one lane, otherwise as it is shipped, and waits until it is ready. */
export async function startResolver(options: ResolverOptions): Promise<StartedResolver> {
  const { root, folder, feed, redisUrl, prefix } = options;
  const startedMs = performance.now();
  const port = await freePort();
  const { child, ready } = await spawnWeir('resolver', {
    ...{ root, folder, prefix },
    variables: {
      REDIS_URL: redisUrl,
      FEED_URL: feed.url,
      FEED_TOKENS: feed.token,
      DATA_DIR: join(folder, 'data'),
      RESOLVER_THREADS: '1',
      DNS_HOST: '127.0.0.1',
      DNS_PORT: String(port),
      DEPLOYMENT_ID: feed.token,
      SCHEDULE_TIMEZONE: 'Europe/Berlin',
      DNS_PROXY_PROTOCOL_FROM: `${BALANCER}/32`,
      // Clients of the load have no profile in an empty configuration.
      DNS_ALLOWED_CLIENTS: '0.0.0.0/0,::/0',
      UPSTREAMS: `127.0.0.1:${options.upstreamPort}`,
      BLOCK_PAGE_IPV4: BLOCK_ADDRESS,
    },
  });
  try {
    await ready(READY_DEADLINE_MS);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { child, port, readyMs: performance.now() - startedMs };
}

/** Resident memory of a process now (Linux: VmRSS). */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024);
}
