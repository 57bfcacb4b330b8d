import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';
import type { Key } from './keys/key.js';
import type { Fault, MessageFaultKind, ProcessFaultKind } from './script.js';
import type { Tally } from './tally.js';
import type { Watch } from './watch.js';
import type { WeirProcess } from '../deployment/weir-process.js';

/** A connection to Redis that is silent for good is replaced within this time. */
const REPLACED_MS = 4_000;
/** A follower takes a feed that says nothing for ten seconds for lost. */
const FEED_GIVEN_UP_MS = 11_000;
/** How long a replica waits between commit and publication when it is to be killed there. */
const PAUSE_AFTER_COMMIT_MS = 400;
const PAUSE_VARIABLE = 'WEIR_TEST_PAUSE_AFTER_COMMIT_MS';

/** Does to the deployment what the script says, and mends it again. */
export class Injector {
  constructor(
    private readonly deployment: Deployment,
    private readonly watch: Watch,
    private readonly keys: readonly Key[],
    private readonly tally: Tally,
    private readonly log: (text: string) => void,
  ) {}

  /** Injects faults one after the other until the time is over; everything is up again when this resolves. */
  async run<K extends ProcessFaultKind | MessageFaultKind>(
    script: Iterable<Fault<K>>,
    endMs: number,
    inject: (fault: Fault<K>) => Promise<void>,
  ): Promise<void> {
    for (const fault of script) {
      if (performance.now() >= endMs) return;
      this.tally.fault(fault.kind);
      this.log(`${fault.kind} (${fault.target}), ${fault.durationMs} ms`);
      await inject(fault);
      await sleep(Math.min(fault.calmMs, Math.max(0, endMs - performance.now())));
    }
  }

  /** Processes and stores. */
  async injectProcessFault({ kind, target, durationMs }: Fault<ProcessFaultKind>): Promise<void> {
    const { deployment } = this;
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
      case 'Redis killed and empty':
        return this.emptyRedis(durationMs);
      case 'PostgreSQL stopped':
        await deployment.stopPostgres('SIGINT');
        await sleep(durationMs);
        return deployment.startPostgres();
      case 'PostgreSQL crashed':
        await deployment.stopPostgres('SIGQUIT');
        await sleep(durationMs);
        return deployment.startPostgres();
      case 'resolver alone':
        return this.startAlone(target % deployment.resolvers.length);
      case 'feed silent':
        return this.silenceFeed(durationMs);
      case 'replica cut off from PostgreSQL': {
        const way = deployment.postgresWays[target % deployment.postgresWays.length];
        way?.silence();
        await sleep(durationMs);
        return way?.mend();
      }
    }
  }

  /** Messages and connections of Redis. */
  async injectMessageFault({ kind, durationMs, strength }: Fault<MessageFaultKind>): Promise<void> {
    const { redisProxy } = this.deployment;
    const settled = kind === 'duplicate' ? null : this.watch.disturb();
    switch (kind) {
      case 'drop':
        // Every third loses everything.
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
        redisProxy.silence(strength);
        break;
    }
    await sleep(kind === 'silence' ? REPLACED_MS : durationMs);
    redisProxy.heal();
    settled?.();
  }

  /** Nearly all of the time that such a replica lives is between a commit and its publication. */
  private async killAfterCommit(replica: WeirProcess, durationMs: number): Promise<void> {
    await replica.kill();
    await replica.start({ [PAUSE_VARIABLE]: String(PAUSE_AFTER_COMMIT_MS) });
    await sleep(1_000);
    await replica.kill();
    await sleep(durationMs);
    await replica.start();
  }

  private async restart(process: WeirProcess): Promise<void> {
    const ending = await process.terminate();
    if (!('code' in ending) || ending.code !== 0)
      this.tally.violation(`${process.name} ended with ${JSON.stringify(ending)} at SIGTERM`);
    await process.start();
  }

  /** A resolver that finds nothing but its disk must have everything that it acknowledged. */
  private async startAlone(index: number): Promise<void> {
    const { deployment, watch } = this;
    const resolver = pick(deployment.resolvers, index);
    const settled = watch.disturb();
    await Promise.all(deployment.replicas.map((replica) => replica.kill()));
    await Promise.all([deployment.killRedis(), deployment.stopPostgres('SIGQUIT')]);
    await resolver.kill();
    await resolver.start();
    await watch.expectOwed(index, this.keys);
    await Promise.all([deployment.startRedis(), deployment.startPostgres()]);
    await Promise.all(deployment.replicas.map((replica) => replica.start()));
    settled();
  }

  private async silenceFeed(durationMs: number): Promise<void> {
    const settled = this.watch.disturb();
    this.deployment.feedWay.silence();
    await sleep(durationMs);
    this.deployment.feedWay.mend();
    // Not waited for: a resolver that asked meanwhile may be behind until it has given its question up.
    void sleep(FEED_GIVEN_UP_MS).then(settled);
  }

  private async emptyRedis(durationMs: number): Promise<void> {
    const settled = this.watch.disturb();
    await this.deployment.killRedis();
    await sleep(durationMs);
    await this.deployment.startRedis();
    settled();
  }
}

async function stopAndContinue(process: WeirProcess, durationMs: number): Promise<void> {
  process.pause();
  await sleep(durationMs);
  process.resume();
}

function pick(processes: readonly WeirProcess[], target: number): WeirProcess {
  const process = processes[target % processes.length];
  if (process === undefined) throw new RangeError('there is no process');
  return process;
}
