/*
 * A resolver with an empty configuration against one at full size: `npm run bench:scale -- --help`.
 *
 * The resolver has one core; the load generator, the upstream (nsd), the feed and Redis have another. Each round
 * starts a fresh process of each. It prints figures and asserts nothing but that the queries are answered.
 */
import { compileCatalogue } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { execFileSync, execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fail, integer, optionsOrExit, print, progress, share, value } from '../../command.js';
import { freePort } from '../../services/ports.js';
import { startRedis } from '../../services/redis.js';
import { missingPrograms, startUpstream } from '../dns/servers/upstream.js';
import { describeLoad, describeMachine } from '../figures.js';
import { GeneratedFeed, HASH_KEY } from './generated-feed.js';
import {
  type LoadRound,
  measureLoad,
  type StartedResolver,
  startResolver,
} from './measure-load.js';
import { compileDomains, makeRows, type Size, sizeOf } from './policy/configuration.js';
import type { PolicyFigures } from './policy/measure.js';
import { makeLoad } from './queries.js';
import { renderScale, type ScaleFigures } from './report.js';

const KEY = parseHashKey(HASH_KEY);
const NAMES = 100_000;
const QUERIES = 500_000;
const LEAST_NAMES = 1_000;
const LEAST_QUERIES = 20_000;
const CHANGES = 200;
/** A rule that no configuration has. */
const CHANGED_RULE = [1, 4_711, 2];
const SMALL_PROFILES = 1_000;

interface RunOptions {
  /** Share of the full size. */
  readonly scale: number;
  readonly rounds: number;
  readonly seconds: number;
  /** Queries per second of the steady phase. */
  readonly rate: number;
  readonly prefix: readonly string[];
  readonly progress: (text: string) => void;
}

/** What the resolvers of all configurations share. */
interface Surroundings extends RunOptions {
  readonly folder: string;
  readonly redisUrl: string;
  readonly upstreamPort: number;
}

async function runScale(options: RunOptions): Promise<ScaleFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-scale-'));
  const upstreamPort = await freePort();
  const upstreamFolder = join(folder, 'upstream');
  mkdirSync(upstreamFolder);
  const upstream = startUpstream(upstreamFolder, upstreamPort);
  const redis = await startRedis({
    dataDir: join(folder, 'redis'),
    logFile: join(folder, 'redis.log'),
  });
  try {
    const around = { ...options, folder, redisUrl: redis.url, upstreamPort };
    const underLoad = await compareUnderLoad(around);
    const smallDisk = await startSmall(around);
    options.progress('measures the policy by itself');
    const policy = await measurePolicy(options.scale);
    const { feedMs, diskMs, ...figures } = underLoad;
    return { ...figures, policy, startMs: { feed: feedMs, disk: diskMs, smallDisk } };
  } finally {
    await redis.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareUnderLoad(around: Surroundings) {
  const { scale, rounds, progress, folder } = around;
  const size = sizeOf(scale);
  progress('makes the queries');
  const names = Math.max(LEAST_NAMES, Math.round(NAMES * scale));
  const load = makeLoad(size, names, Math.max(LEAST_QUERIES, Math.round(QUERIES * scale)));
  const [queries, warmUp] = [join(folder, 'queries'), join(folder, 'warm-up')];
  writeFileSync(queries, load.queries.content);
  writeFileSync(warmUp, load.warmUp.content);
  const settings = { ...around, queries, warmUp };
  // In this order: generating the full size takes longer than Redis waits.
  const full = await Configuration.of(size, 'full', around);
  const empty = await Configuration.empty(around);
  try {
    progress('starts a resolver that loads the full size over the feed');
    const feedMs = await full.start(({ readyMs }) => Promise.resolve(readyMs));
    await empty.start(() => Promise.resolve());
    const [emptyRounds, fullRounds]: LoadRound[][] = [[], []];
    const diskMs: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      progress(`round ${round} of ${rounds}: empty`);
      emptyRounds?.push(await empty.start((resolver) => measureLoad(resolver, settings)));
      progress(`round ${round} of ${rounds}: full size`);
      await full.start(async (resolver) => {
        diskMs.push(resolver.readyMs);
        fullRounds?.push(await measureLoad(resolver, settings));
      });
    }
    progress(`makes ${CHANGES} changes`);
    const changeMs = await full.start(() => full.change(CHANGES));
    return { empty: emptyRounds ?? [], full: fullRounds ?? [], feedMs, diskMs, changeMs };
  } finally {
    await full.stop();
    await empty.stop();
  }
}

/** The policy alone, in a process of its own. */
async function measurePolicy(scale: number): Promise<PolicyFigures> {
  const program = fileURLToPath(new URL('policy/measure.js', import.meta.url));
  const args = ['--max-old-space-size=8000', program, String(scale)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as PolicyFigures;
}

/** Starts from disk with the networks of full size and as many rules. */
async function startSmall(around: Surroundings): Promise<number[]> {
  const { networks } = sizeOf(around.scale);
  const profiles = Math.min(SMALL_PROFILES, networks);
  const size = { networks, networks6: 0, napt: 0, profiles, rules: networks, domains: 100 };
  const small = await Configuration.of(size, 'small', around);
  try {
    around.progress('starts a resolver with as many rules as networks, from disk');
    await small.start(() => Promise.resolve());
    const startsMs: number[] = [];
    for (let round = 0; round < around.rounds; round++) {
      startsMs.push(await small.start(({ readyMs }) => Promise.resolve(readyMs)));
    }
    return startsMs;
  } finally {
    await small.stop();
  }
}

/** A configuration with its feed, and a folder for the resolver that has it. */
class Configuration {
  private constructor(
    private readonly feed: GeneratedFeed,
    private readonly around: Surroundings,
    private readonly folder: string,
  ) {}

  static async empty(around: Surroundings): Promise<Configuration> {
    const catalogue = compileCatalogue({ categories: [], applications: [] }, KEY);
    const feed = await GeneratedFeed.start(around.redisUrl, 'empty', {}, catalogue);
    return new Configuration(feed, around, join(around.folder, 'empty'));
  }

  static async of(size: Size, name: string, around: Surroundings): Promise<Configuration> {
    around.progress(`makes a configuration: ${describeSize(size)}`);
    const rows = makeRows(size, KEY);
    const catalogue = compileDomains(size.domains, KEY);
    const feed = await GeneratedFeed.start(around.redisUrl, name, rows, catalogue);
    return new Configuration(feed, around, join(around.folder, name));
  }

  /** Starts a resolver, which finds on its disk what an earlier one left there, and stops it after `work`. */
  async start<T>(work: (resolver: StartedResolver) => Promise<T>): Promise<T> {
    const resolver = await startResolver({ ...this.around, folder: this.folder, feed: this.feed });
    try {
      return await work(resolver);
    } finally {
      await resolver.child.stop();
    }
  }

  /** Puts and deletes a rule in turns. @returns the time of each change until it was in force, in ms */
  async change(count: number): Promise<number[]> {
    await this.feed.followed();
    const latenciesMs: number[] = [];
    for (let i = 0; i < count; i++) {
      const startedMs = performance.now();
      const { applied, total } = await this.feed.changeRule(
        i % 2 === 0 ? 'put' : 'delete',
        CHANGED_RULE,
      );
      if (applied !== 1 || total !== 1)
        throw new Error(`a change is in force on ${applied}/${total}`);
      latenciesMs.push(performance.now() - startedMs);
    }
    return latenciesMs;
  }

  stop(): Promise<void> {
    return this.feed.stop();
  }
}

function describeSize(size: Size): string {
  return Object.entries<number>({ ...size })
    .map(([part, count]) => `${count.toLocaleString('en-US')} ${part}`)
    .join(', ');
}

const [SERVER_CORE, LOAD_CORE] = ['0', '1'];

const HELP = `npm run bench:scale -- [--scale 1] [--rounds 3] [--seconds 5] [--rate 20000]

Compares a resolver without a configuration with one at full size: 1 M IPv4 and 200 k IPv6 networks, 200 k NAPT ranges,
100 k profiles, 10 M domain rules, 5 M category domains, schedules. Names follow Zipf's law; a third of the clients are
behind NAPT ranges. Then a decision by itself, memory by kind of entry, start from disk, and one change.
scale: share of the size, such as 0.01
seconds: of each of the two phases, full load and the steady rate (queries per second)
At full size it takes about ten minutes, 4 GiB of memory and 2 GiB in the folder for temporary files.`;

const options = optionsOrExit(HELP, {
  scale: value(share, 1),
  rounds: value(integer(1, 100), 3),
  seconds: value(integer(1, 600), 5),
  rate: value(integer(1, 1_000_000), 20_000),
});

const missing = missingPrograms();
if (missing.length > 0) fail(`bench:scale needs ${missing.join(', ')}`);
else {
  // The children of this process inherit its core. Only the resolver gets the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  const prefix = ['taskset', '-c', SERVER_CORE];
  const figures = await runScale({ ...options, prefix, progress });
  const { scale, rounds, seconds } = options;
  print(`\nscale ${scale}, ${rounds} rounds of ${seconds} s; ${describeLoad()}\n`);
  print(renderScale(figures));
}
