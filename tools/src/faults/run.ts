import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../command.js';
import { Deployment } from '../deployment/deployment.js';
import { DnsClient } from '../deployment/dns-client.js';
import { Random } from '../deployment/random.js';
import { AnswerChecker } from './answer-checker.js';
import type { RunContext } from './context.js';
import { injectFaults, type Scripts } from './faults.js';
import { type Call, FIXED_SETUP, type Key, PAGE_SETUP } from './keys/key.js';
import { POLICY_KEYS } from './keys/policy-keys.js';
import { SUBSCRIBER_KEYS } from './keys/subscriber-keys.js';
import { type DefectName, plantVariables } from './plant/plants.js';
import { RunStats } from './run-stats.js';
import { messageScript, plantScript, processScript, shortScript } from './script.js';
import { verify } from './verify.js';
import { Writer } from './writer.js';

const REPLICAS = 2;
/** Lanes of each resolver. */
const RESOLVER_THREADS = [2, 1, 1];
const WRITERS = 12;
/** As much as shows a planted defect: one resolver that has a change while another one does not. */
const PLANTED_RESOLVER_THREADS = [1, 1];
const KEY_KINDS = [...POLICY_KEYS, ...SUBSCRIBER_KEYS];
/** Keys of each kind for each writer. */
const KEYS_PER_WRITER = 2;
const QUERY_LOOPS_PER_RESOLVER = 2;
/** Upper bound only: the fixed scripts end by themselves. */
const FIXED_LIMIT_MS = 120_000;
/** Enough that a transaction commits several changes. */
const PLANTED_WRITERS = 4;
/** This many changes, and as many queries right after one, show each planted defect that needs no fault. */
const PLANTED_CHANGES = 150;

export interface FaultOptions {
  readonly seed: number;
  /** How long faults are injected for. */
  readonly seconds: number;
  /** Use the fixed script of half a minute instead of a random one. */
  readonly short: boolean;
  /** A defect that is put into the processes, to see that the suite finds it. */
  readonly plant: DefectName | null;
}

export interface RunOptions extends FaultOptions, Pick<RunContext, 'previous' | 'folder'> {
  /** Called for the first violations, at once. */
  readonly onViolation: (text: string) => void;
  /** When aborted, the run ends and stops every process that it started. */
  readonly signal: AbortSignal;
}

/** One run of the suite: set up, inject faults during changes and queries, repair, verify. */
export async function runFaults(options: RunOptions): Promise<RunStats> {
  const { folder, onViolation, signal, seed, plant } = options;
  const isPlanted = plant !== null;
  const threads = isPlanted ? PLANTED_RESOLVER_THREADS : RESOLVER_THREADS;
  const random = new Random(seed);
  const stats = new RunStats(onViolation);
  const ended = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => ended.reject(signal.reason as Error));
  // It is closed after the processes: a query of one that is killed needs no answer.
  await using dns = new DnsClient();
  await using deployment = await Deployment.create({
    ...{ folder, replicas: REPLICAS, resolvers: threads.length },
    random: random.fork('messages'),
    fsync: seed % 4 === 0,
    variables: plantVariables(isPlanted ? [plant] : []),
    // Those of the other replica are logged as operations.
    replicaVariables: (replica) => ({
      CATALOGUE_INTERVAL_MS: '1000',
      ...(replica === 0 && !isPlanted && plantVariables(['every replacement is a reload'])),
    }),
    resolverVariables: (resolver) => ({
      RESOLVER_THREADS: String(threads[resolver]),
      // This one has a slow disk, too.
      ...(resolver === 1 && !isPlanted && plantVariables(['a slow disk'])),
    }),
    onUnexpectedExit: (explanation) => {
      // A planted defect is to be found by what it does to users.
      if (isPlanted) ended.reject(new StartError(explanation));
      else stats.violation(explanation);
    },
  });
  return await Promise.race([ended.promise, runOn(deployment, dns, stats, random, options)]);
}

async function runOn(
  deployment: Deployment,
  dns: DnsClient,
  stats: RunStats,
  random: Random,
  options: RunOptions,
): Promise<RunStats> {
  await deployment.start();
  const checker = new AnswerChecker(deployment, dns, stats);
  const writerCount = options.plant === null ? WRITERS : PLANTED_WRITERS;
  const keysOfWriters = makeKeys(writerCount, KEYS_PER_WRITER, deployment.secrets.hashKey);
  const keys = keysOfWriters.flat();
  const context: RunContext = {
    ...options,
    ...{ deployment, checker, stats, keys },
    acknowledged: new Map(),
    stored: new Map(),
  };
  const writers = keysOfWriters.map(
    (own, i) => new Writer(context, own, random.fork(`writer ${i}`)),
  );
  await setUp(writers, keys);
  print(`set up: ${context.acknowledged.size} changes, ${keys.length} keys`);
  await runUnderFaults(options, random, context, writers);
  await verify(context);
  return stats;
}

/** Keys of every kind, each with its own subscribers. Every writer has `each` keys of every kind. */
function makeKeys(writers: number, each: number, hashKey: string): Key[][] {
  return Array.from({ length: writers }, (_, writer) =>
    Array.from({ length: each }, (_each, i) =>
      KEY_KINDS.map((makeKey) => makeKey(writer * each + i, hashKey)),
    ).flat(),
  );
}

/** First block pages, then the profiles that refer to them, then the keys. */
async function setUp(writers: readonly Writer[], keys: readonly Key[]): Promise<void> {
  const stages: (readonly (readonly Call[])[])[] = [
    PAGE_SETUP.map((call) => [call]),
    [FIXED_SETUP],
    keys.map((key) => key.setUp),
  ];
  for (const stage of stages) {
    // All writers take from it.
    const waiting = stage.values();
    await Promise.all(
      writers.map(async (writer) => {
        for (const calls of waiting) for (const call of calls) await writer.setUp(call);
      }),
    );
  }
}

async function runUnderFaults(
  { short, plant, seconds }: FaultOptions,
  random: Random,
  context: RunContext,
  writers: readonly Writer[],
): Promise<void> {
  const { deployment, checker, keys, previous } = context;
  const { counts } = context.stats;
  const [replacer] = writers;
  const setUpChanges = counts.acknowledged;
  const writing = writers.map((writer) => writer.run());
  writing.push(replacer.replacePeriodically());
  const asking = deployment.resolvers.flatMap((_, resolver) =>
    Array.from({ length: QUERY_LOOPS_PER_RESOLVER }, (_loop, i) =>
      checker.follow(resolver, keys, random.fork(`queries ${resolver} ${i}`)),
    ),
  );
  // The first changes meet no faults.
  await sleep(1_000);
  const isRandom = !short && plant === null;
  const endMs = performance.now() + (isRandom ? seconds * 1_000 : FIXED_LIMIT_MS);
  const scripts: Scripts = {
    processes: (kinds) => {
      const drawn = random.fork('script');
      if (plant !== null) return plantScript(drawn, plant);
      return short ? shortScript(drawn) : processScript(drawn, kinds, previous !== null);
    },
    messages: (kinds) => (isRandom ? messageScript(random.fork('message script'), kinds) : []),
  };
  await injectFaults(context, replacer, scripts, endMs);
  const enough = plant === null ? 0 : PLANTED_CHANGES;
  const checked = (): number =>
    Math.min(counts.acknowledged - setUpChanges, counts.queriesAfterAcknowledgement);
  while (checked() < enough && performance.now() < endMs) await sleep(50);
  for (const writer of writers) writer.stop();
  await Promise.all(writing);
  checker.stop();
  await Promise.all(asking);
}
