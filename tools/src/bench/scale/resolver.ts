import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, runForJson } from '../../services/child.js';
import { freePort } from '../../services/ports.js';
import { startResolver } from '../deployment.js';
import { BLOCK_ADDRESS } from '../dns/jobs.js';
import { type Ask, type Measurement, measurePhases, STEADY_RATE } from '../dns/measure.js';
import { HASH_KEY } from './configuration.js';
import type { GeneratedFeed } from './generated-feed.js';
import { BALANCER, type GeneratorOptions, type GeneratorResult } from './load.js';

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

const GENERATOR = new URL('generator.js', import.meta.url);

export interface LoadSettings {
  /** Query files. */
  readonly queries: string;
  readonly warmUp: string;
  readonly seconds: number;
  /** Whether some of the names are blocked. */
  readonly isBlocking: boolean;
}

const WINDOW = 200;
/** So few wait for the upstream at once that nothing is lost. */
const WARM_UP_WINDOW = 50;
/** What may be missing: an answer in a thousand. */
const FEW = 0.001;

/** Measures a process as bench:dns does. @throws Error when it does not answer as it should */
export async function measureLoad(
  { child, port }: StartedResolver,
  { queries, warmUp, seconds, isBlocking }: LoadSettings,
): Promise<Measurement> {
  const run = async (options: Omit<GeneratorOptions, 'port'>): Promise<GeneratorResult> => {
    const order = JSON.stringify({ ...options, port } satisfies GeneratorOptions);
    const result = await runForJson<GeneratorResult>(GENERATOR, order);
    const { sent, answered, errors } = result;
    if (answered - errors >= sent * (1 - FEW)) return result;
    throw new Error(`of ${sent} queries, ${answered} were answered, ${errors} with an error`);
  };
  await run({ file: warmUp, seconds: null, rate: null, window: WARM_UP_WINDOW });
  const ask: Ask = async (phase, phaseSeconds) => {
    const rate = phase === 'steady' ? STEADY_RATE : null;
    const result = await run({ file: queries, seconds: phaseSeconds, rate, window: WINDOW });
    if (result.blocked > 0 === isBlocking) return result;
    throw new Error(`of ${result.answered} answers, ${result.blocked} are the block page`);
  };
  return measurePhases(child, ask, seconds, 'now');
}
