/*
 * A resolver with an empty configuration against one at full size: `npm run bench:scale -- --help`.
 *
 * The resolver has one core; the load generator, the upstream (nsd), the feed and Redis have another. Each round
 * starts a fresh process of each. It prints figures and asserts nothing but that the queries are answered.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fail,
  inFolder,
  integer,
  optionsOrExit,
  print,
  progress,
  share,
  value,
} from '../../command.js';
import type { Child } from '../../services/child.js';
import { askHelper } from '../../services/helper.js';
import { freePort } from '../../services/ports.js';
import { startRedis } from '../../services/redis.js';
import { startResolver } from '../deployment.js';
import { BLOCK_ADDRESS } from '../dns/jobs.js';
import { missingPrograms, startUpstream } from '../dns/upstream.js';
import { type Measurement, measurePhases } from '../dns/measure.js';
import { describeLoad, describeMachine, measureLatencies } from '../figures.js';
import { compileDomains, HASH_KEY, makeRows, type Size, sizeOf } from './configuration.js';
import { GeneratedFeed } from './generated-feed.js';
import { BALANCER, type GeneratorOptions, type GeneratorResult, makeLoad } from './load.js';
import type { PolicyFigures } from './policy.js';
import { renderScale } from './report.js';

const NAMES = 100_000;
const QUERIES = 500_000;
const LEAST_NAMES = 1_000;
const LEAST_QUERIES = 20_000;
const CHANGES = 200;
/** A rule that no configuration has. */
const CHANGED_RULE = [1, 4_711, 2];
const SMALL_PROFILES = 1_000;
const [SERVER_CORE, LOAD_CORE] = ['0', '1'];
const WINDOW = 200;
/** So few wait for the upstream at once that nothing is lost. */
const WARM_UP_WINDOW = 50;
/** What may be missing: an answer in a thousand. */
const FEW = 0.001;

const HELP = `npm run bench:scale -- [--scale 1] [--rounds 3] [--seconds 5]

Compares a resolver without a configuration with one at full size: 1 M IPv4 and 200 k IPv6 networks, 200 k NAPT ranges,
100 k profiles, 10 M domain rules, 5 M category domains, schedules. Names follow Zipf's law; a third of the clients are
behind NAPT ranges. Then a decision by itself, memory by kind of entry, start from disk, and one change.
scale: share of the size, such as 0.01
seconds: of each of the two phases, full load and 20,000 queries a second
At full size it takes about ten minutes, 4 GiB of memory and 2 GiB in the folder for temporary files.`;

const { scale, rounds, seconds } = optionsOrExit(HELP, {
  scale: value(share, 1),
  rounds: value(integer(1, 100), 3),
  seconds: value(integer(1, 600), 5),
});

/** Where all resolvers find what they need. */
interface Place {
  readonly folder: string;
  readonly redisUrl: string;
  readonly upstreamPort: number;
}

async function runIn(folder: string): Promise<void> {
  const upstreamPort = await freePort();
  await using _upstream = startUpstream(folder, upstreamPort);
  const [dataDir, logFile] = [join(folder, 'redis'), join(folder, 'redis.log')];
  await using redis = await startRedis({ dataDir, logFile });
  const place = { folder, redisUrl: redis.url, upstreamPort };
  const underLoad = await compareUnderLoad(place);
  const smallDiskMs = await startSmall(place);
  progress('measures the policy by itself');
  const program = new URL('policy.js', import.meta.url);
  const policy = await askHelper<PolicyFigures>(program, scale, ['--max-old-space-size=8000']);
  print(`\nscale ${scale}, ${rounds} rounds of ${seconds} s; ${describeLoad()}\n`);
  print(renderScale({ ...underLoad, smallDiskMs, policy }));
}

async function compareUnderLoad(place: Place) {
  const size = sizeOf(scale);
  progress('makes the queries');
  const names = Math.max(LEAST_NAMES, Math.round(NAMES * scale));
  const load = makeLoad(size, names, Math.max(LEAST_QUERIES, Math.round(QUERIES * scale)));
  const files = { queries: join(place.folder, 'queries'), warmUp: join(place.folder, 'warm-up') };
  writeFileSync(files.queries, load.queries);
  writeFileSync(files.warmUp, load.warmUp);
  // In this order: generating the full size takes longer than Redis waits.
  return withFeed(place, 'full size', size, (startFull, feed) =>
    withFeed(place, 'empty', null, async (startEmpty) => {
      progress('starts a resolver that loads the full size over the feed');
      const feedMs = await startFull(({ readyMs }) => readyMs);
      await startEmpty(() => undefined);
      const [empty, full]: [Measurement[], Measurement[]] = [[], []];
      const diskMs: number[] = [];
      for (let round = 1; round <= rounds; round++) {
        progress(`round ${round} of ${rounds}`);
        await startEmpty(async (one) => empty.push(await measureLoad(one, files, false)));
        await startFull(async (one) => {
          diskMs.push(one.readyMs);
          full.push(await measureLoad(one, files, true));
        });
      }
      progress(`makes ${CHANGES} changes`);
      return { empty, full, feedMs, diskMs, changeMs: await startFull(() => makeChanges(feed)) };
    }),
  );
}

/** Starts from disk with the networks of full size and as many rules. */
function startSmall(place: Place): Promise<number[]> {
  const { networks } = sizeOf(scale);
  const profiles = Math.min(SMALL_PROFILES, networks);
  const size = { networks, networks6: 0, napt: 0, profiles, rules: networks, domains: 100 };
  return withFeed(place, 'as many rules as networks', size, async (start) => {
    const startsMs: number[] = [];
    // The first one has nothing on its disk yet.
    for (let i = 0; i <= rounds; i++) startsMs.push(await start(({ readyMs }) => readyMs));
    return startsMs.slice(1);
  });
}

interface StartedResolver {
  readonly child: Child;
  readonly port: number;
  /** From its start until /readyz says so. */
  readonly readyMs: number;
}

/** Starts a resolver, which finds on its disk what an earlier one left there, and stops it after `work`. */
type Start = <T>(work: (resolver: StartedResolver) => T | Promise<T>) => Promise<T>;

/**
 * `work` gets the feed of a configuration, and a function that starts a resolver with it. The resolver has one lane and
 * otherwise the default settings.
 * @param size null: empty
 */
async function withFeed<T>(
  { folder: parent, redisUrl, upstreamPort }: Place,
  name: string,
  size: Size | null,
  work: (start: Start, feed: GeneratedFeed) => Promise<T>,
): Promise<T> {
  progress(`makes a configuration: ${name}`);
  const rows = size === null ? {} : makeRows(size);
  const token = `token-of-the-feed-${name.replaceAll(' ', '-')}`;
  await using feed = new GeneratedFeed(redisUrl, token, rows, compileDomains(size?.domains ?? 0));
  await feed.start();
  const folder = join(parent, token);
  mkdirSync(folder);
  const variables = {
    DOMAIN_HASH_KEY: HASH_KEY,
    DEPLOYMENT_ID: token,
    REDIS_URL: redisUrl,
    FEED_URL: feed.url,
    FEED_TOKENS: token,
    DATA_DIR: join(folder, 'data'),
    RESOLVER_THREADS: '1',
    SCHEDULE_TIMEZONE: 'Europe/Berlin',
    DNS_PROXY_PROTOCOL_FROM: `${BALANCER}/32`,
    // Clients of the load have no profile in an empty configuration.
    DNS_ALLOWED_CLIENTS: '0.0.0.0/0,::/0',
    BLOCK_PAGE_IPV4: BLOCK_ADDRESS,
  };
  const prefix = ['taskset', '-c', SERVER_CORE];
  const start: Start = async (use) => {
    const startedMs = performance.now();
    const port = await freePort();
    await using child = await startResolver({ folder, upstreamPort, prefix, port }, variables);
    return await use({ child, port, readyMs: performance.now() - startedMs });
  };
  return await work(start, feed);
}

/**
 * Measures a process as bench:dns does. @param isBlocking whether some of the names are blocked
 * @throws Error when it does not answer as it should
 */
async function measureLoad(
  { child, port }: StartedResolver,
  { queries, warmUp }: { readonly queries: string; readonly warmUp: string },
  isBlocking: boolean,
): Promise<Measurement> {
  const generator = new URL('generator.js', import.meta.url);
  const run = async (options: Omit<GeneratorOptions, 'port'>): Promise<GeneratorResult> => {
    const order: GeneratorOptions = { ...options, port };
    const result = await askHelper<GeneratorResult>(generator, order);
    const { sent, answered, errors } = result;
    if (answered - errors >= sent * (1 - FEW)) return result;
    throw new Error(`of ${sent} queries, ${answered} were answered, ${errors} with an error`);
  };
  await run({ file: warmUp, seconds: null, rate: null, window: WARM_UP_WINDOW });
  const ask = async (_phase: string, phaseSeconds: number, rate: number | null) => {
    const result = await run({ file: queries, seconds: phaseSeconds, rate, window: WINDOW });
    if (result.blocked > 0 === isBlocking) return result;
    throw new Error(`of ${result.answered} answers, ${result.blocked} are the block page`);
  };
  return measurePhases(child, ask, seconds, 'now');
}

/** Puts and deletes a rule in turns. @returns the time of each change until it was in force, in ms */
async function makeChanges(feed: GeneratedFeed): Promise<number[]> {
  await feed.followed();
  return measureLatencies(
    async (i) => {
      const { applied, total } = await feed.changeRule(
        i % 2 === 0 ? 'put' : 'delete',
        CHANGED_RULE,
      );
      if (applied !== 1 || total !== 1)
        throw new Error(`a change is in force on ${applied}/${total}`);
    },
    (i) => i < CHANGES,
  );
}

const missing = missingPrograms();
if (missing.length > 0) fail(`bench:scale needs ${missing.join(', ')}`);
else {
  // The children of this process inherit its core. Only the resolver gets the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  await inFolder('bench-scale', runIn);
}
