import { redisNames } from '@weir/change-feed';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';
import type { TcpProxy } from '../deployment/tcp-proxy.js';
import type { WeirProcess } from '../services/weir-process.js';
import type { AnswerChecker } from './answer-checker.js';
import type { DatabaseRewind } from './database-rewind.js';
import { breakImage, renewCatalogue } from './image-fault.js';
import type { Key } from './keys/key.js';
import { plantVariables, STUCK_FILE_VARIABLE } from './plant/plants.js';
import type { RunStats } from './run-stats.js';
import type { Fault, MessageFaultKind, ProcessFaultKind } from './script.js';

const FOLLOWERS = 200;
const HEARTBEAT_MS = 500;
const LEASE_MS = 3_000;
const inForce = { lineage: randomUUID(), revision: 0, digest: '0'.repeat(16) };

/** Somebody who can write to Redis and has no token announces resolvers that never apply anything. */
async function forgeFollowers(deployment: Deployment, durationMs: number): Promise<void> {
  const names = redisNames(deployment.deploymentId);
  const redis = new Redis(deployment.redisUrl, { retryStrategy: () => 100 });
  redis.on('error', () => undefined);
  const endMs = performance.now() + durationMs;
  // Also ends a pipeline on a connection that was blackholed meanwhile.
  const ending = setTimeout(() => {
    redis.disconnect();
  }, durationMs);
  try {
    while (performance.now() < endMs) {
      const pipeline = redis.pipeline();
      for (let i = 0; i < FOLLOWERS; i++) {
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

/** Lanes of each resolver. */
export const RESOLVER_THREADS = [2, 1, 1];
/** Weir replaces a Redis connection that loses everything within this time. */
const RECONNECT_MS = 4_000;
/** A resolver gives up a stuck thread after two seconds; the machine may be busy. */
const STUCK_DEADLINE_MS = 20_000;
/** A job that is queued is run without the queue after 15 seconds. */
const REFRESH_DEADLINE_MS = 45_000;
/** A follower gives up a feed connection after ten seconds without data. */
const FEED_TIMEOUT_MS = 11_000;

/** The folders of the releases that replicas are started from. */
export interface Releases {
  readonly own: string;
  /** Null: the run is without a previous release. */
  readonly previous: string | null;
}

/** Injects the faults of a script into a deployment, and repairs each of them. */
export class FaultInjector {
  constructor(
    private readonly deployment: Deployment,
    private readonly checker: AnswerChecker,
    private readonly rewind: DatabaseRewind,
    private readonly keys: readonly Key[],
    private readonly stats: RunStats,
    private readonly log: (text: string) => void,
    private readonly releases: Releases,
  ) {}

  /** Injects faults one after the other until `endMs`. Everything is up again when this resolves. */
  async run<K extends ProcessFaultKind | MessageFaultKind>(
    script: Iterable<Fault<K>>,
    endMs: number,
    inject: (fault: Fault<K>) => Promise<void>,
  ): Promise<void> {
    for (const fault of script) {
      if (performance.now() >= endMs) return;
      this.stats.fault(fault.kind);
      this.log(`${fault.kind} (${fault.target}), ${fault.durationMs} ms`);
      await inject(fault);
      await sleep(Math.min(fault.calmMs, Math.max(0, endMs - performance.now())));
    }
  }

  /** Faults of processes, PostgreSQL, Redis and the feed. */
  async injectProcessFault({ kind, target, durationMs }: Fault<ProcessFaultKind>): Promise<void> {
    const { deployment } = this;
    const { postgres } = deployment;
    const upgraded = pick(deployment.replicas, 1);
    const replica = pick(deployment.replicas, target);
    const resolver = pick(deployment.resolvers, target);
    switch (kind) {
      case 'kill replica':
        await replica.kill();
        await sleep(durationMs);
        return replica.start();
      case 'kill replica after commit':
        return this.killAfterCommit(replica, durationMs);
      case 'kill resolver':
        await resolver.kill();
        await sleep(durationMs);
        return resolver.start();
      case 'stop resolver':
        return stopAndContinue(resolver, durationMs);
      case 'stop replica':
        return stopAndContinue(replica, durationMs);
      case 'restart resolver':
        return this.restart(resolver);
      case 'restart replica':
        return this.restart(replica);
      case 'release of a replica changed':
        this.log(`${upgraded.name} is of ${changeRelease(upgraded, this.releases)}`);
        return this.restart(upgraded);
      case 'Redis killed and empty':
        return this.emptyRedis(durationMs);
      case 'PostgreSQL stopped':
        return this.stopPostgres(() => postgres.stop('SIGINT'), durationMs);
      case 'PostgreSQL crashed':
        return this.stopPostgres(() => postgres.stop('SIGQUIT'), durationMs);
      case 'PostgreSQL killed':
        return this.stopPostgres(() => postgres.kill(), durationMs);
      case 'resolver alone':
        return this.startAlone(target % deployment.resolvers.length);
      case 'resolver started from its disk':
        return this.startFromDisk(target % deployment.resolvers.length);
      case 'feed thread of a resolver stuck':
        return this.stickFeedThread(target);
      case 'resolver isolated':
        return this.isolate(target % deployment.resolvers.length, durationMs);
      case 'resolver disk full':
        return fillDisk(resolver, durationMs);
      case 'clock of a resolver stepped':
        return resolver.stepClock();
      case 'clock of a replica stepped':
        return replica.stepClock();
      case 'Redis failed over':
        return this.failOverRedis();
      case 'PostgreSQL failed over with lost commits':
        return this.rewind.failOver(durationMs);
      case 'database restored from a backup':
        return this.rewind.restore(durationMs);
      case 'forged followers':
        return forgeFollowers(deployment, durationMs);
      case 'catalogue image bad':
        return breakImage(deployment, 'bad', durationMs);
      case 'catalogue image missing':
        return breakImage(deployment, 'missing', durationMs);
      case 'catalogue image slow':
        return breakImage(deployment, 'slow', durationMs);
      case 'Redis gone while a catalogue is due':
        return this.renewWithoutRedis();
      case 'feed silent':
        return this.silenceFeed(durationMs);
      case 'replica cut off from PostgreSQL':
        return this.cutOff(pick(deployment.postgresProxies, target), durationMs);
    }
  }

  /** Faults of Redis messages and connections. */
  async injectMessageFault({ kind, durationMs, strength }: Fault<MessageFaultKind>): Promise<void> {
    const { redisProxy } = this.deployment;
    const endDisturbance = kind === 'duplicate' ? null : this.checker.disturb();
    switch (kind) {
      case 'drop':
        // A third of these faults drops every message.
        redisProxy.faults = { drop: strength > 0.66 ? 1 : strength, duplicate: 0 };
        break;
      case 'duplicate':
        redisProxy.faults = { drop: 0, duplicate: strength };
        break;
      case 'cut':
        redisProxy.cut(strength);
        break;
      case 'stall':
        redisProxy.stall(strength, durationMs);
        break;
      case 'silence':
        redisProxy.blackhole(strength);
        break;
    }
    await sleep(kind === 'silence' ? RECONNECT_MS : durationMs);
    redisProxy.clearFaults();
    endDisturbance?.();
  }

  /** A replica that pauses after each commit is nearly always between a commit and its publication. */
  private async killAfterCommit(replica: WeirProcess, durationMs: number): Promise<void> {
    await replica.kill();
    await replica.start(plantVariables(['pause after a commit']));
    await sleep(1_000);
    await replica.kill();
    await sleep(durationMs);
    await replica.start();
  }

  private async restart(process: WeirProcess): Promise<void> {
    const status = await process.terminate();
    if (!('code' in status) || status.code !== 0)
      this.stats.violation(`${process.name} ended with ${JSON.stringify(status)} at SIGTERM`);
    await process.start();
  }

  private async stopPostgres(stop: () => Promise<unknown>, durationMs: number): Promise<void> {
    const endDisturbance = this.checker.disturbDatabase();
    await stop();
    await sleep(durationMs);
    await this.deployment.postgres.start();
    endDisturbance();
  }

  private async cutOff(proxy: TcpProxy, durationMs: number): Promise<void> {
    const endDisturbance = this.checker.disturbDatabase();
    proxy.startBlackhole();
    await sleep(durationMs);
    proxy.stopBlackhole();
    endDisturbance();
  }

  /** A resolver that starts with nothing but its disk must know every change that it acknowledged. */
  private async startAlone(index: number): Promise<void> {
    const { deployment, checker } = this;
    const resolver = pick(deployment.resolvers, index);
    const endDisturbance = checker.disturb();
    await Promise.all(deployment.replicas.map((replica) => replica.kill()));
    await Promise.all([deployment.redis.kill(), deployment.postgres.stop('SIGQUIT')]);
    await resolver.kill();
    await resolver.start();
    await checker.expectAcknowledged(index, this.keys);
    await Promise.all([deployment.redis.start(), deployment.postgres.start()]);
    await Promise.all(deployment.replicas.map((replica) => replica.start()));
    endDisturbance();
  }

  /** It may not answer yet, but it must never answer by a part of what it has, or by anything older. */
  private async startFromDisk(index: number): Promise<void> {
    const { deployment, checker, keys } = this;
    const resolver = pick(deployment.resolvers, index);
    await resolver.kill();
    await checker.askWhile(index, keys, () => resolver.start());
  }

  /**
   * A thread that is stuck in the middle of a change can be told nothing. The process must end, and must not answer by
   * an older configuration meanwhile.
   */
  private async stickFeedThread(target: number): Promise<void> {
    const { deployment, checker, keys, stats } = this;
    const index = target % deployment.resolvers.length;
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

  /** Redis is only the fast path: a catalogue that is due is compiled and activated without it. */
  private async renewWithoutRedis(): Promise<void> {
    const { deployment, checker, stats } = this;
    const endDisturbance = checker.disturb();
    await deployment.redis.kill();
    if (!(await renewCatalogue(deployment, REFRESH_DEADLINE_MS)))
      stats.violation('without Redis, a new catalogue is not activated');
    await deployment.redis.start();
    endDisturbance();
  }

  /** The resolver hears neither Redis nor the feed, and its clients still reach it. */
  private async isolate(index: number, durationMs: number): Promise<void> {
    const links = this.deployment.resolverLinks[index];
    const endIsolation = this.checker.isolate(index);
    for (const proxy of [links?.redis, links?.feed]) proxy?.startBlackhole();
    await sleep(durationMs);
    for (const proxy of [links?.redis, links?.feed]) proxy?.stopBlackhole();
    endIsolation();
  }

  private async silenceFeed(durationMs: number): Promise<void> {
    const endDisturbance = this.checker.disturb();
    this.deployment.feedProxy.startBlackhole();
    await sleep(durationMs);
    this.deployment.feedProxy.stopBlackhole();
    // Not awaited: a resolver that asked during the blackhole may lag until its request times out.
    void sleep(FEED_TIMEOUT_MS).then(endDisturbance);
  }

  private async failOverRedis(): Promise<void> {
    const endDisturbance = this.checker.disturb();
    await this.deployment.failOverRedis();
    endDisturbance();
  }

  private async emptyRedis(durationMs: number): Promise<void> {
    const endDisturbance = this.checker.disturb();
    await this.deployment.redis.kill();
    await sleep(durationMs);
    await this.deployment.redis.start();
    endDisturbance();
  }
}

/** No file of the process may grow, as on a disk without space. */
async function fillDisk(process: WeirProcess, durationMs: number): Promise<void> {
  process.limitFileSize('0');
  await sleep(durationMs);
  process.limitFileSize('unlimited');
}

async function stopAndContinue(process: WeirProcess, durationMs: number): Promise<void> {
  process.pause();
  await sleep(durationMs);
  process.resume();
}

function pick<T>(list: readonly T[], target: number): T {
  const picked = list[target % list.length];
  if (picked === undefined) throw new RangeError('there is none');
  return picked;
}

/** As in a rolling upgrade, and in one that is rolled back; from the next start on. @returns which one it will be. */
function changeRelease(process: WeirProcess, { own, previous }: Releases): string {
  const isUpgraded = process.releaseRoot !== own;
  process.releaseRoot = isUpgraded ? own : (previous ?? own);
  return isUpgraded ? 'this release' : 'the previous release';
}
