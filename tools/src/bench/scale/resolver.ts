import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Child } from '../../services/child.js';
import { freePort } from '../../services/ports.js';
import { cpuMs, residentMiB } from '../../services/usage.js';
import { startResolver } from '../deployment.js';
import { BLOCK_ADDRESS } from '../dns/jobs.js';
import { HASH_KEY } from './configuration.js';
import type { GeneratedFeed } from './generated-feed.js';
import { BALANCER, type GeneratorOptions, type LoadResult } from './load.js';

interface ResolverOptions {
  /** Holds its data and its log; whatever an earlier process left there is used. */
  readonly folder: string;
  readonly feed: GeneratedFeed;
  readonly redisUrl: string;
  readonly upstreamPort: number;
}

export interface StartedResolver {
  readonly child: Child;
  readonly port: number;
  /** From its start until /readyz says so. */
  readonly readyMs: number;
}

/**
 * Starts a resolver with one lane, otherwise as it is shipped, and waits until it is ready.
 * @param prefix command in front of the resolver's
 */
export async function startWithFeed(
  { folder, feed, redisUrl, upstreamPort }: ResolverOptions,
  prefix: readonly string[],
): Promise<StartedResolver> {
  const startedMs = performance.now();
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const child = await startResolver(
    { name: 'resolver', folder, port, upstreamPort, prefix },
    {
      DOMAIN_HASH_KEY: HASH_KEY,
      DEPLOYMENT_ID: feed.token,
      REDIS_URL: redisUrl,
      FEED_URL: feed.url,
      FEED_TOKENS: feed.token,
      DATA_DIR: join(folder, 'data'),
      RESOLVER_THREADS: '1',
      SCHEDULE_TIMEZONE: 'Europe/Berlin',
      DNS_PROXY_PROTOCOL_FROM: `${BALANCER}/32`,
      // Clients of the load have no profile in an empty configuration.
      DNS_ALLOWED_CLIENTS: '0.0.0.0/0,::/0',
      BLOCK_PAGE_IPV4: BLOCK_ADDRESS,
    },
  );
  return { child, port, readyMs: performance.now() - startedMs };
}

const GENERATOR = fileURLToPath(new URL('generator.js', import.meta.url));

/** Runs the load generator in a process of its own. */
async function runLoad(options: GeneratorOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    GENERATOR,
    JSON.stringify(options),
  ]);
  return JSON.parse(stdout) as LoadResult;
}

/** One resolver process under load. */
export interface LoadRound {
  readonly full: LoadPhase;
  /** At a steady rate. */
  readonly steady: LoadPhase;
  readonly residentMiB: number;
}

export interface LoadPhase extends LoadResult {
  /** Processor time of all threads per answer, user and system. */
  readonly cpuUs: number;
}

export interface LoadSettings {
  /** Query files. */
  readonly queries: string;
  readonly warmUp: string;
  readonly seconds: number;
  /** Queries per second of the steady phase. */
  readonly rate: number;
}

/** Longest load that is not counted: afterwards the code is compiled, and caches are as in a long run. */
const WARM_SECONDS = 2;
const WINDOW = 200;
/** So few wait for the upstream at once that nothing is lost. */
const WARM_UP_WINDOW = 50;
/** What may be missing after a warm-up: a name in a thousand. */
const FEW = 0.001;

/** @throws Error when the resolver does not answer as it should */
export async function measureLoad(
  { child, port }: StartedResolver,
  settings: LoadSettings,
): Promise<LoadRound> {
  const { queries, warmUp, seconds, rate } = settings;
  const warm = { file: warmUp, port, seconds: null, rate: null, window: WARM_UP_WINDOW };
  check(await runLoad(warm), 'the warm-up');
  const brief = Math.min(seconds, WARM_SECONDS);
  await runLoad({ file: queries, port, seconds: brief, rate: null, window: WINDOW });
  const phase = async (wanted: number | null): Promise<LoadPhase> => {
    const before = cpuMs(child.pid);
    const load = { file: queries, port, seconds, rate: wanted, window: WINDOW };
    const result = await runLoad(load);
    check(result, 'the load');
    return { ...result, cpuUs: ((cpuMs(child.pid) - before) * 1_000) / result.answered };
  };
  const full = await phase(null);
  const steady = await phase(rate);
  return { full, steady, residentMiB: residentMiB(child.pid, 'now') };
}

function check({ sent, good, answered }: LoadResult, what: string): void {
  if (good >= sent * (1 - FEW)) return;
  throw new Error(`${what}: of ${sent}, ${answered} were answered, ${good} with NOERROR`);
}
