import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../../services/child.js';
import { freePort } from '../../services/ports.js';
import { WeirProcess } from '../../services/weir-process.js';
import { ROOT } from '../deployment.js';
import { BLOCK_ADDRESS } from '../dns/jobs.js';
import { type GeneratedFeed, HASH_KEY } from './generated-feed.js';
import { BALANCER } from './generator/client.js';

export interface ResolverOptions {
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
  const { folder, feed, redisUrl, prefix } = options;
  const startedMs = performance.now();
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const resolver = new WeirProcess({
    ...{ name: 'resolver', app: 'resolver', root: ROOT, prefix, opsPort: await freePort() },
    logFile: join(folder, 'log'),
    readyWithinMs: READY_DEADLINE_MS,
    // It is stopped by itself.
    onUnexpectedExit: () => undefined,
    environment: () => ({
      LOG_LEVEL: 'warn',
      DOMAIN_HASH_KEY: HASH_KEY,
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
    }),
  });
  try {
    await resolver.start();
  } catch (error) {
    await resolver.kill();
    throw error;
  }
  return { child: resolver.running, port, readyMs: performance.now() - startedMs };
}
