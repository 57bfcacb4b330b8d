import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../../services/child.js';
import { HASH_KEY, waitUntilReady } from '../../services/control-plane.js';
import { freePort } from '../../services/ports.js';
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
  const { root, folder, feed } = options;
  mkdirSync(folder, { recursive: true });
  const [port, opsPort] = [await freePort(), await freePort()];
  const startedMs = performance.now();
  const child = startChild({
    name: 'resolver',
    command: process.execPath,
    args: [join(root, 'apps/resolver/dist/main.js')],
    env: {
      PATH: process.env['PATH'],
      RESOLVER_THREADS: '1',
      REDIS_URL: options.redisUrl,
      FEED_URL: feed.url,
      FEED_TOKEN: feed.token,
      DEPLOYMENT_ID: feed.token,
      DOMAIN_HASH_KEY: HASH_KEY,
      SCHEDULE_TIMEZONE: 'Europe/Berlin',
      DATA_DIR: join(folder, 'data'),
      DNS_HOST: '127.0.0.1',
      DNS_PORT: String(port),
      DNS_PROXY_PROTOCOL_FROM: `${BALANCER}/32`,
      // Clients of the load have no profile in an empty configuration.
      DNS_ALLOWED_CLIENTS: '0.0.0.0/0,::/0',
      UPSTREAMS: `127.0.0.1:${options.upstreamPort}`,
      BLOCK_PAGE_IPV4: BLOCK_ADDRESS,
      OPS_PORT: String(opsPort),
      LOG_LEVEL: 'warn',
    },
    logFile: join(folder, 'log'),
    prefix: options.prefix,
  });
  try {
    await waitUntilReady(`http://127.0.0.1:${opsPort}`, child, READY_DEADLINE_MS);
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
