/*
 * A resolver with an empty configuration against one at full size: `npm run bench:scale -- --help`.
 *
 * The resolver has one core; the load generator, the upstream (nsd), the feed and Redis have another. Each round
 * starts a fresh process of each. It prints figures and asserts nothing but that the queries are answered.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, integer, optionsOrExit, print, progress, share, value } from '../../command.js';
import { runForJson } from '../../services/child.js';
import { freePort } from '../../services/ports.js';
import { startRedis } from '../../services/redis.js';
import { missingPrograms, startUpstream } from '../dns/upstream.js';
import type { Measurement } from '../dns/measure.js';
import { describeLoad, describeMachine } from '../figures.js';
import { compileDomains, makeRows, type Size, sizeOf } from './configuration.js';
import { GeneratedFeed } from './generated-feed.js';
import { makeLoad } from './load.js';
import type { PolicyFigures } from './policy.js';
import { renderScale } from './report.js';
import { measureLoad, type StartedResolver, startWithFeed } from './resolver.js';

const NAMES = 100_000;
const QUERIES = 500_000;
const LEAST_NAMES = 1_000;
const LEAST_QUERIES = 20_000;
const CHANGES = 200;
/** A rule that no configuration has. */
const CHANGED_RULE = [1, 4_711, 2];
const SMALL_PROFILES = 1_000;
const [SERVER_CORE, LOAD_CORE] = ['0', '1'];

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

async function runIn(folder: string): Promise<void> {
  const upstreamPort = await freePort();
  const upstream = startUpstream(folder, upstreamPort);
  const [dataDir, logFile] = [join(folder, 'redis'), join(folder, 'redis.log')];
  const redis = await startRedis({ dataDir, logFile });
  const run = new Run(folder, redis.url, upstreamPort);
  try {
    const underLoad = await run.compareUnderLoad();
    const smallDiskMs = await run.startSmall();
    progress('measures the policy by itself');
    const figures = { ...underLoad, smallDiskMs, policy: await measurePolicy() };
    print(`\nscale ${scale}, ${rounds} rounds of ${seconds} s; ${describeLoad()}\n`);
    print(renderScale(figures));
  } finally {
    await redis.stop();
    await upstream.stop();
  }
}

/** The policy alone, in a process of its own. */
function measurePolicy(): Promise<PolicyFigures> {
  const program = new URL('policy.js', import.meta.url);
  return runForJson('--max-old-space-size=8000', program, String(scale));
}

/** Starts a resolver, which finds on its disk what an earlier one left there, and stops it after `work`. */
type Start = <T>(work: (resolver: StartedResolver) => Promise<T>) => Promise<T>;

class Run {
  constructor(
    private readonly folder: string,
    private readonly redisUrl: string,
    private readonly upstreamPort: number,
  ) {}

  async compareUnderLoad() {
    const size = sizeOf(scale);
    progress('makes the queries');
    const names = Math.max(LEAST_NAMES, Math.round(NAMES * scale));
    const load = makeLoad(size, names, Math.max(LEAST_QUERIES, Math.round(QUERIES * scale)));
    const [queries, warmUp] = [join(this.folder, 'queries'), join(this.folder, 'warm-up')];
    writeFileSync(queries, load.queries);
    writeFileSync(warmUp, load.warmUp);
    const settings = { queries, warmUp, seconds };
    // In this order: generating the full size takes longer than Redis waits.
    return this.withFeed('full size', size, (startFull, feed) =>
      this.withFeed('empty', null, async (startEmpty) => {
        progress('starts a resolver that loads the full size over the feed');
        const feedMs = await startFull(({ readyMs }) => Promise.resolve(readyMs));
        await startEmpty(() => Promise.resolve());
        const [empty, full]: [Measurement[], Measurement[]] = [[], []];
        const diskMs: number[] = [];
        for (let round = 1; round <= rounds; round++) {
          progress(`round ${round} of ${rounds}`);
          empty.push(
            await startEmpty((one) => measureLoad(one, { ...settings, isBlocking: false })),
          );
          full.push(
            await startFull((resolver) => {
              diskMs.push(resolver.readyMs);
              return measureLoad(resolver, { ...settings, isBlocking: true });
            }),
          );
        }
        progress(`makes ${CHANGES} changes`);
        return { empty, full, feedMs, diskMs, changeMs: await startFull(() => makeChanges(feed)) };
      }),
    );
  }

  /** Starts from disk with the networks of full size and as many rules. */
  startSmall(): Promise<number[]> {
    const { networks } = sizeOf(scale);
    const profiles = Math.min(SMALL_PROFILES, networks);
    const size = { networks, networks6: 0, napt: 0, profiles, rules: networks, domains: 100 };
    return this.withFeed('as many rules as networks', size, async (start) => {
      await start(() => Promise.resolve());
      const startsMs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        startsMs.push(await start(({ readyMs }) => Promise.resolve(readyMs)));
      }
      return startsMs;
    });
  }

  /**
   * Runs `work` with the feed of a configuration, and a folder for the resolver that has it.
   * @param size null: empty
   */
  private async withFeed<T>(
    name: string,
    size: Size | null,
    work: (start: Start, feed: GeneratedFeed) => Promise<T>,
  ): Promise<T> {
    progress(`makes a configuration: ${name}`);
    const rows = size === null ? {} : makeRows(size);
    const catalogue = compileDomains(size?.domains ?? 0);
    const token = `token-of-the-feed-${name.replaceAll(' ', '-')}`;
    const feed = await GeneratedFeed.start(this.redisUrl, token, rows, catalogue);
    const { redisUrl, upstreamPort } = this;
    const options = { redisUrl, upstreamPort, feed, folder: join(this.folder, token) };
    const start: Start = async (useIt) => {
      const resolver = await startWithFeed(options, ['taskset', '-c', SERVER_CORE]);
      try {
        return await useIt(resolver);
      } finally {
        await resolver.child.stop();
      }
    };
    try {
      return await work(start, feed);
    } finally {
      await feed.stop();
    }
  }
}

/** Puts and deletes a rule in turns. @returns the time of each change until it was in force, in ms */
async function makeChanges(feed: GeneratedFeed): Promise<number[]> {
  await feed.followed();
  const tookMs: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const startedMs = performance.now();
    const change = i % 2 === 0 ? 'put' : 'delete';
    const { applied, total } = await feed.changeRule(change, CHANGED_RULE);
    if (applied !== 1 || total !== 1)
      throw new Error(`a change is in force on ${applied}/${total}`);
    tookMs.push(performance.now() - startedMs);
  }
  return tookMs;
}

const missing = missingPrograms();
if (missing.length > 0) fail(`bench:scale needs ${missing.join(', ')}`);
else {
  // The children of this process inherit its core. Only the resolver gets the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-scale-'));
  try {
    await runIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
