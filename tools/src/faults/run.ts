import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../deployment/deployment.js';
import { DnsClient } from '../deployment/dns-client.js';
import { Injector } from './injector.js';
import { Gate } from './gate.js';
import { FIXED_SETUP, PAGE_SETUP } from './keys/fixed.js';
import type { Key, Step } from './keys/key.js';
import { makeKeys } from './keys/make-keys.js';
import type { FaultOptions } from './options.js';
import { Random } from '../deployment/random.js';
import { messageFaults, processFaults, shortScript } from './script.js';
import { Tally } from './tally.js';
import { type LogState, readLogs, verify } from './verify.js';
import { Watch } from './watch.js';
import { Writer, type WriterOptions } from './writer.js';

const REPLICAS = 2;
const RESOLVERS = 3;
/** Of each kind, for each writer. */
const KEYS_PER_WRITER = 2;
const QUERY_LOOPS_PER_RESOLVER = 2;
/** The short script ends by itself. */
const SHORT_LIMIT_MS = 120_000;

export interface RunResult {
  readonly tally: Tally;
  readonly log: LogState;
  readonly loads: Record<string, number>;
  readonly messages: Readonly<Record<string, number>>;
}

export interface RunSurroundings {
  /** The repository, compiled. */
  readonly root: string;
  /** Takes data and logs; empty. */
  readonly folder: string;
  readonly print: (text: string) => void;
  /** Aborted: ends the run, and every process that it started. */
  readonly signal: AbortSignal;
}

/** One run of the suite: set up, break things while changes and queries go on, mend, verify. */
export async function runFaults(
  options: FaultOptions,
  { root, folder, print, signal }: RunSurroundings,
): Promise<RunResult> {
  const random = new Random(options.seed);
  const tally = new Tally((text) => {
    print(`WRONG ${text}`);
  });
  const deployment = await Deployment.create({
    root,
    folder,
    replicas: REPLICAS,
    resolvers: RESOLVERS,
    random: random.fork('messages'),
    onBroken: (explanation) => {
      tally.violation(explanation);
    },
  });
  const dns = new DnsClient();
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
  try {
    return await Promise.race([ended, runOn(deployment, dns, tally, random, options, print)]);
  } finally {
    await deployment.stop();
    await dns.close();
  }
}

async function runOn(
  deployment: Deployment,
  dns: DnsClient,
  tally: Tally,
  random: Random,
  options: FaultOptions,
  print: (text: string) => void,
): Promise<RunResult> {
  await deployment.start();
  const watch = new Watch(deployment, dns, tally);
  const keysOfWriters = makeKeys(options.writers, KEYS_PER_WRITER);
  const keys = keysOfWriters.flat();
  const shared: WriterOptions = {
    deployment,
    watch,
    tally,
    revisions: new Set(),
    stored: new Map(),
    gate: new Gate(),
  };
  const writers = keysOfWriters.map(
    (own, i) => new Writer(shared, own, random.fork(`writer ${i}`)),
  );
  await setUp(writers, keys);
  print(`set up: ${shared.revisions.size} changes, ${keys.length} keys`);
  await underFaults(options, random, { deployment, watch, keys, tally, writers }, print);
  const log = await verify({ ...shared, keys });
  const loads = readLogs(deployment, tally);
  return { tally, log, loads, messages: deployment.redisProxy.counts };
}

interface Actors {
  readonly deployment: Deployment;
  readonly watch: Watch;
  readonly keys: readonly Key[];
  readonly tally: Tally;
  readonly writers: readonly Writer[];
}

/** Pages first, then the profiles that refer to them, then the keys. */
async function setUp(writers: readonly Writer[], keys: readonly Key[]): Promise<void> {
  const lists = [PAGE_SETUP.map((step) => [step]), [FIXED_SETUP], keys.map((key) => key.setUp)];
  for (const list of lists) await inParallel(writers, list);
}

async function inParallel(
  writers: readonly Writer[],
  lists: readonly (readonly Step[])[],
): Promise<void> {
  const waiting = [...lists];
  await Promise.all(
    writers.map(async (writer) => {
      for (let list = waiting.shift(); list; list = waiting.shift())
        for (const step of list) await writer.setUp(step);
    }),
  );
}

async function underFaults(
  options: FaultOptions,
  random: Random,
  { deployment, watch, keys, tally, writers }: Actors,
  print: (text: string) => void,
): Promise<void> {
  const startedMs = performance.now();
  const log = (text: string): void => {
    print(`  ${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  };
  const injector = new Injector(deployment, watch, keys, tally, log);
  const writing = writers.map((writer) => writer.run());
  const [replacer] = writers;
  if (replacer !== undefined) writing.push(replacer.replaceNowAndThen(keys));
  const asking = deployment.resolvers.flatMap((_, resolver) =>
    Array.from({ length: QUERY_LOOPS_PER_RESOLVER }, (_loop, i) =>
      watch.follow(resolver, keys, random.fork(`queries ${resolver} ${i}`)),
    ),
  );
  // The first changes find everything in order.
  await sleep(1_000);
  const endMs = performance.now() + (options.short ? SHORT_LIMIT_MS : options.seconds * 1_000);
  const processes = options.short
    ? shortScript(random.fork('script'))
    : processFaults(random.fork('script'));
  const breaking = [injector.run(processes, endMs, (fault) => injector.injectProcessFault(fault))];
  if (!options.short) {
    const messages = messageFaults(random.fork('message script'));
    breaking.push(injector.run(messages, endMs, (fault) => injector.injectMessageFault(fault)));
  }
  await Promise.all(breaking);
  for (const writer of writers) writer.stop();
  await Promise.all(writing);
  watch.stop();
  await Promise.all(asking);
}
