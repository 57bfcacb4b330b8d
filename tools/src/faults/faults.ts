import { redisNames } from '@weir/change-feed';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../command.js';
import type { Deployment } from '../deployment/deployment.js';
import { NO_MESSAGE_FAULTS, type TcpProxy } from '../deployment/proxies.js';
import { ROOT } from '../services/files.js';
import { until } from '../services/until.js';
import type { WeirProcess } from '../services/weir-process.js';
import type { RunContext } from './context.js';
import { breakImage, failOver, renewCatalogue, restore } from './database.js';
import { plantVariables, STUCK_FILE_VARIABLE } from './plant/plants.js';
import type { RunStats } from './run-stats.js';
import type { Writer } from './writer.js';

const FORGED_FOLLOWERS = 200;
const [HEARTBEAT_MS, LEASE_MS] = [500, 3_000];
/** Weir replaces a Redis connection that loses everything within this time. */
const RECONNECT_MS = 4_000;
/** A resolver gives up a stuck thread after two seconds; the machine may be busy. */
const STUCK_DEADLINE_MS = 20_000;
/** A job that is queued is run without the queue after 15 seconds. */
const REFRESH_DEADLINE_MS = 45_000;
/** A resolver writes to a disk that was full within about a minute. */
const DISK_DEADLINE_MS = 120_000;
/** A follower gives up a feed connection after ten seconds without data. */
const FEED_TIMEOUT_MS = 11_000;

/** One fault of the script. */
export interface Fault<K> {
  readonly kind: K;
  /** Which replica or resolver, modulo their number. */
  readonly target: number;
  /** How long the fault lasts. */
  readonly durationMs: number;
  /** From 0 to 1; 1 is the worst. */
  readonly strength: number;
  /** Time without a fault before the next one. */
  readonly calmMs: number;
}

/** Injects a fault, and repairs it. */
type Inject = (fault: Omit<Fault<unknown>, 'kind'>) => unknown;

export type ProcessFaultKind = keyof ReturnType<typeof processFaults>;
export type MessageFaultKind = keyof ReturnType<typeof messageFaults>;

/**
 * Faults of processes, PostgreSQL, Redis and the feed. Everything is up again when one resolves.
 * @param replacer replaces the whole configuration when the database was taken back
 */
function processFaults(context: RunContext, replacer: Writer) {
  const { deployment, checker, keys, stats, previous } = context;
  const { postgres, redis } = deployment;
  const replica = ({ target }: { target: number }) => pick(deployment.replicas, target);
  const resolver = ({ target }: { target: number }) => pick(deployment.resolvers, target);
  const indexOf = ({ target }: { target: number }) => target % deployment.resolvers.length;
  const restart = (process: WeirProcess) => process.restart((text) => stats.violation(text));
  const stopPostgres = (stop: () => Promise<unknown>, durationMs: number): Promise<void> =>
    during(checker.counts.database.begin(), async () => {
      await stop();
      await sleep(durationMs);
      await postgres.start();
    });
  return {
    'kill replica': (fault) => killAndStart(replica(fault), fault.durationMs),
    'kill replica after commit': async (fault) => {
      // A replica that pauses after each commit is nearly always between a commit and its publication.
      await replica(fault).kill();
      await replica(fault).start(plantVariables(['pause after a commit']));
      await sleep(1_000);
      await killAndStart(replica(fault), fault.durationMs);
    },
    'kill resolver': (fault) => killAndStart(resolver(fault), fault.durationMs),
    'stop resolver': (fault) => stopAndContinue(resolver(fault), fault.durationMs),
    'stop replica': (fault) => stopAndContinue(replica(fault), fault.durationMs),
    'restart resolver': (fault) => restart(resolver(fault)),
    'restart replica': (fault) => restart(replica(fault)),
    /** As in a rolling upgrade, and in one that is rolled back: to the previous release, and back the next time. */
    'release of a replica changed': () => {
      const upgraded = pick(deployment.replicas, 1);
      const isUpgraded = upgraded.releaseRoot !== ROOT;
      upgraded.releaseRoot = isUpgraded ? ROOT : (previous ?? ROOT);
      log(stats, `${upgraded.name} is of ${isUpgraded ? 'this' : 'the previous'} release`);
      return restart(upgraded);
    },
    'Redis killed and empty': ({ durationMs }) =>
      during(checker.counts.leases.begin(), async () => {
        await redis.kill();
        await sleep(durationMs);
        await redis.start();
      }),
    'PostgreSQL stopped': ({ durationMs }) =>
      stopPostgres(() => postgres.stop('SIGINT'), durationMs),
    'PostgreSQL crashed': ({ durationMs }) =>
      stopPostgres(() => postgres.stop('SIGQUIT'), durationMs),
    'PostgreSQL killed': ({ durationMs }) => stopPostgres(() => postgres.kill(), durationMs),
    /** A resolver that starts with nothing but its disk must know every change that it acknowledged. */
    'resolver alone': (fault) =>
      during(checker.counts.leases.begin(), async () => {
        await waitForDisk(resolver(fault), stats);
        await Promise.all(deployment.replicas.map((one) => one.kill()));
        await Promise.all([redis.kill(), postgres.stop('SIGQUIT')]);
        await killAndStart(resolver(fault), 0);
        await checker.expectAcknowledged(indexOf(fault), keys);
        await Promise.all([redis.start(), postgres.start()]);
        await Promise.all(deployment.replicas.map((one) => one.start()));
      }),
    /** It may not answer yet, but it must never answer by a part of what it has, or by anything older. */
    'resolver started from its disk': async (fault) => {
      await waitForDisk(resolver(fault), stats);
      await resolver(fault).kill();
      await checker.askWhile(indexOf(fault), keys, () => resolver(fault).start());
    },
    'feed thread of a resolver stuck': (fault) => stickFeedThread(context, indexOf(fault)),
    /** Neither Redis nor the feed reaches the resolver, and its clients still do. */
    'resolver isolated': (fault) => {
      const links = pick(deployment.resolverLinks, fault.target);
      return during(checker.counts.isolate(indexOf(fault)), () =>
        cutOff([links.redis, links.feed], fault.durationMs),
      );
    },
    /** No file of the process may grow, as on a disk without space. */
    'resolver disk full': async (fault) => {
      resolver(fault).limitFileSize('0');
      await sleep(fault.durationMs);
      resolver(fault).limitFileSize('unlimited');
    },
    'clock of a resolver stepped': (fault) => resolver(fault).stepClock(),
    'clock of a replica stepped': (fault) => replica(fault).stepClock(),
    'Redis failed over': () =>
      during(checker.counts.leases.begin(), () => deployment.failOverRedis()),
    'PostgreSQL failed over with lost commits': ({ durationMs }) =>
      failOver(context, replacer, durationMs),
    'database restored from a backup': ({ durationMs }) => restore(context, replacer, durationMs),
    'forged followers': ({ durationMs }) => forgeFollowers(deployment, durationMs),
    'catalogue image bad': ({ durationMs }) => breakImage(deployment, 'bad', durationMs),
    'catalogue image missing': ({ durationMs }) => breakImage(deployment, 'missing', durationMs),
    'catalogue image slow': ({ durationMs }) => breakImage(deployment, 'slow', durationMs),
    /** Redis is only the fast path: a catalogue that is due is compiled and activated without it. */
    'Redis gone while a catalogue is due': () =>
      during(checker.counts.leases.begin(), async () => {
        await redis.kill();
        if (!(await renewCatalogue(deployment, REFRESH_DEADLINE_MS)))
          stats.violation('without Redis, a new catalogue is not activated');
        await redis.start();
      }),
    'feed silent': async ({ durationMs }) => {
      const endDisturbance = checker.counts.leases.begin();
      await cutOff([deployment.feedProxy], durationMs);
      // Not awaited: a resolver that asked during the blackhole may lag until its request times out.
      void sleep(FEED_TIMEOUT_MS).then(endDisturbance);
    },
    'replica cut off from PostgreSQL': ({ target, durationMs }) =>
      during(checker.counts.database.begin(), () =>
        cutOff([pick(deployment.postgresProxies, target)], durationMs),
      ),
  } satisfies Record<string, Inject>;
}

/** Faults of Redis messages and connections. */
function messageFaults({ deployment, checker }: RunContext) {
  const { redisProxy } = deployment;
  const faulty = async (drop: number, duplicate: number, durationMs: number): Promise<void> => {
    redisProxy.faults = { drop, duplicate };
    await sleep(durationMs);
    redisProxy.faults = NO_MESSAGE_FAULTS;
  };
  const disturbed = (work: () => Promise<void>) => during(checker.counts.leases.begin(), work);
  const disturbedFor = (durationMs: number, start: () => void) =>
    disturbed(async () => {
      start();
      await sleep(durationMs);
    });
  return {
    // A third of these faults drops every message.
    drop: ({ strength, durationMs }) =>
      disturbed(() => faulty(strength > 0.66 ? 1 : strength, 0, durationMs)),
    duplicate: ({ strength, durationMs }) => faulty(0, strength, durationMs),
    cut: ({ strength, durationMs }) => disturbedFor(durationMs, () => redisProxy.cut(strength)),
    stall: ({ strength, durationMs }) =>
      disturbedFor(durationMs, () => redisProxy.stall(strength, durationMs)),
    silence: ({ strength }) => disturbedFor(RECONNECT_MS, () => redisProxy.blackhole(strength)),
  } satisfies Record<string, Inject>;
}

/** Makes the list of faults, from these kinds. */
type Script<K> = (kinds: readonly K[]) => Iterable<Fault<K>>;

export interface Scripts {
  readonly processes: Script<ProcessFaultKind>;
  readonly messages: Script<MessageFaultKind>;
}

/** Injects faults until `endMs`. Everything is up again when this resolves. */
export async function injectFaults(
  context: RunContext,
  replacer: Writer,
  scripts: Scripts,
  endMs: number,
): Promise<void> {
  const { stats } = context;
  await Promise.all([
    injectAll(scripts.processes, processFaults(context, replacer), endMs, stats),
    injectAll(scripts.messages, messageFaults(context), endMs, stats),
  ]);
}

/** Injects the faults of one script, one after the other. */
async function injectAll<K extends string>(
  script: Script<K>,
  faults: Readonly<Record<K, Inject>>,
  endMs: number,
  stats: RunStats,
): Promise<void> {
  for (const fault of script(Object.keys(faults) as K[])) {
    if (performance.now() >= endMs) return;
    const { kind, target, durationMs, calmMs } = fault;
    stats.fault(kind);
    log(stats, `${kind} (${target}), ${durationMs} ms`);
    await faults[kind](fault);
    await sleep(Math.min(calmMs, Math.max(0, endMs - performance.now())));
  }
}

function log(stats: RunStats, text: string): void {
  print(`  ${stats.seconds(performance.now()).padStart(6)} s  ${text}`);
}

const pick = <T>(list: readonly T[], target: number): T => list[target % list.length];

/** @param end notes the end of the disturbance */
async function during(end: () => void, work: () => Promise<unknown>): Promise<void> {
  await work();
  end();
}

async function killAndStart(process: WeirProcess, pauseMs: number): Promise<void> {
  await process.kill();
  await sleep(pauseMs);
  await process.start();
}

async function stopAndContinue(process: WeirProcess, durationMs: number): Promise<void> {
  process.pause();
  await sleep(durationMs);
  process.resume();
}

async function cutOff(proxies: readonly TcpProxy[], durationMs: number): Promise<void> {
  for (const proxy of proxies) proxy.startBlackhole();
  await sleep(durationMs);
  for (const proxy of proxies) proxy.stopBlackhole();
}

/** What a resolver acknowledged while its disk was full is not there until it is written again. */
async function waitForDisk(resolver: WeirProcess, stats: RunStats): Promise<void> {
  const isCurrent = async () => (await resolver.metric('weir_resolver_disk_current')) !== 0;
  if (!(await until(isCurrent, DISK_DEADLINE_MS)))
    stats.violation(`${resolver.name} does not write what its disk lacks`);
}

/**
 * A thread that is stuck in the middle of a change takes no messages. The process must end, and must not answer by
 * an older configuration meanwhile.
 */
async function stickFeedThread(
  { deployment, checker, keys, stats }: RunContext,
  index: number,
): Promise<void> {
  const resolver = pick(deployment.resolvers, index);
  const file = join(deployment.dataFolder(index), 'stuck');
  await resolver.kill();
  await resolver.start({
    ...plantVariables(['the writer is stuck while a file exists']),
    [STUCK_FILE_VARIABLE]: file,
  });
  writeFileSync(file, '');
  await checker.askWhile(index, keys, async () => {
    const status = await resolver.endOfItself(STUCK_DEADLINE_MS);
    if (status === null) stats.violation(`${resolver.name} does not end with a stuck thread`);
    else if (!('code' in status) || status.code !== 1)
      stats.violation(`${resolver.name} ended with ${JSON.stringify(status)}, not with 1`);
  });
  rmSync(file);
  await resolver.start();
}

/** Somebody who can write to Redis and has no token announces resolvers that never apply anything. */
async function forgeFollowers(deployment: Deployment, durationMs: number): Promise<void> {
  const names = redisNames(deployment.deploymentId);
  const inForce = { lineage: randomUUID(), revision: 0, digest: '0'.repeat(16) };
  const redis = new Redis(deployment.redisUrl, { retryStrategy: () => 100 });
  redis.on('error', () => undefined);
  const endMs = performance.now() + durationMs;
  // Also ends a pipeline on a connection that was blackholed meanwhile.
  const ending = setTimeout(() => redis.disconnect(), durationMs);
  try {
    while (performance.now() < endMs) {
      const pipeline = redis.pipeline();
      for (let i = 0; i < FORGED_FOLLOWERS; i++) {
        const id = `forged-${i}`;
        const state = JSON.stringify({ id, kind: 'resolver', name: null, inForce, feedVersion: 1 });
        pipeline.set(names.lease(id), state, 'PX', LEASE_MS).publish(names.follower, state);
      }
      // Redis may be away at the moment.
      await pipeline.exec().catch(() => undefined);
      await sleep(HEARTBEAT_MS);
    }
  } finally {
    clearTimeout(ending);
    redis.disconnect();
  }
}
