import type { Change, Head } from '@weir/config-model';
import { Acknowledger } from './acknowledger.js';
import { fetchChanges } from './fetch-changes.js';
import type { ImageCounters } from '../client/catalogue-images.js';
import type { MissingImage } from '../client/image-follower.js';
import { type FeedClient, FeedError } from '../client/feed-client.js';
import { ChangeSpans, type FollowerTracer } from './change-spans.js';
import { FollowerLink } from './follower-link.js';
import { FollowerWaits } from './follower-waits.js';
import { type FollowerCounters, type LoadCause, newCounters } from './machine/follower-counters.js';
import { FollowerMachine } from './machine/follower-machine.js';
import type { FailureKind, FollowerEffect, FollowerEvent } from './machine/follower-state.js';
import { Yielder } from '../runtime/yielder.js';
import {
  DigestError,
  type FollowerTarget,
  PersistedConfiguration,
} from './persisted-configuration.js';
import type { Deployment } from '../protocol/deployment.js';
import type { Refusal } from '../protocol/message-verifier.js';
import type { FollowerKind } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';
import { SnapshotLoader } from './snapshot-loader.js';
import type { ConfigurationDisk } from '../disk/configuration-disk.js';

export interface FollowerOptions {
  /** Unique among all followers, and new at each start. */
  readonly id: string;
  readonly kind: FollowerKind;
  /** Stays the same over a restart, and no other live follower has it (decisions §12). Unset: it has none. */
  readonly name?: string | undefined;
  readonly redisUrl: string;
  readonly deployment: Deployment;
  /** Owned by the follower, which closes it when it stops. */
  readonly feed: FeedClient;
  readonly target: FollowerTarget;
  /** Where the configuration is stored to start from; without it the follower starts from the feed API. */
  readonly disk?: ConfigurationDisk;
  /** Without it nothing is traced. */
  readonly tracer?: FollowerTracer | undefined;
  /** Called before it tells the control plane what is in force. */
  readonly onAcknowledge?: (() => void) | undefined;
  readonly log: FeedLogger;
}

/**
 * Keeps a target at the head of the change log. `FollowerMachine` decides; this class carries out the effects and
 * reports their outcomes as events. One step is under way at a time.
 */
export class Follower {
  readonly counters: FollowerCounters = newCounters();
  private readonly machine = new FollowerMachine();
  private readonly link: FollowerLink;
  private readonly configuration: PersistedConfiguration;
  private readonly snapshots: SnapshotLoader;
  private readonly spans: ChangeSpans;
  private readonly acknowledger: Acknowledger;
  private readonly waits = new FollowerWaits();
  private readonly atHead = Promise.withResolvers<undefined>();
  private readonly stopped = Promise.withResolvers<undefined>();
  private yielder = new Yielder();
  private atHeadMs = performance.now();
  private inForceSinceMs = Infinity;
  private restoring: Promise<void> = Promise.resolve();

  constructor(private readonly options: FollowerOptions) {
    this.configuration = new PersistedConfiguration(options.target, options.disk, options.log);
    this.snapshots = new SnapshotLoader(options.feed, this.configuration);
    this.spans = new ChangeSpans(options.tracer);
    this.link = new FollowerLink({
      ...options,
      onChange: (change) => {
        this.spans.receive(change, this.revision);
        this.handle({ type: 'changeReceived', change });
      },
      onHead: (head) => {
        this.handle({ type: 'headReceived', head });
      },
      onLargeChange: (head) => {
        this.spans.receive(head, this.revision);
        this.handle({ type: 'largeChangeReceived', head });
      },
      onMessagesMissed: () => {
        this.handle({ type: 'messagesMissed' });
      },
    });
    const { configuration, link, spans } = this;
    const { onAcknowledge } = options;
    this.acknowledger = new Acknowledger({ configuration, link, spans, onAcknowledge });
  }

  /**
   * Puts in force what is on disk, if anything. Then subscribes, and follows the log. Resolves when the target is at
   * the head and complete, as far as what it lacks could be fetched at once, or at `stop`.
   */
  async start(): Promise<void> {
    this.restoring = this.restore();
    await this.restoring;
    if (this.waits.isStopped) return;
    await this.link.start();
    this.handle({ type: 'started' });
    await this.atHead.promise;
    await this.options.target.complete?.();
  }

  /** Removes the lease, so that no write waits for this follower, and ends. */
  async stop(): Promise<void> {
    this.waits.stop();
    this.handle({ type: 'stop' });
    this.options.feed.close();
    await this.link.stop();
    await this.stopped.promise;
    await this.restoring;
    await this.configuration.close();
    this.atHead.resolve(undefined);
  }

  /** The revision in force; null before the first snapshot. */
  get revision(): number | null {
    return this.machine.phase.inForce?.revision ?? null;
  }

  /** The newest revision that was announced; null before any. */
  get headRevision(): number | null {
    return this.machine.knowledge.head?.revision ?? this.revision;
  }

  /** Time since what is in force was last known to be the newest. It stays below two heartbeats while all is well. */
  get lagMs(): number {
    return performance.now() - this.atHeadMs;
  }

  /** Whether what is in force was the newest at least once. */
  get isCaughtUp(): boolean {
    return this.machine.knowledge.isCaughtUp;
  }

  /** Time since the first configuration was put in force, from disk or from the feed; 0 before. */
  get inForceForMs(): number {
    return Math.max(0, performance.now() - this.inForceSinceMs);
  }

  /** Whether a start from disk would have all that is in force. Without a disk there is nothing to miss. */
  get isDiskCurrent(): boolean {
    return this.options.disk?.isCurrent ?? true;
  }

  /** Errors of the disk, and how often it hung for too long. */
  get diskFailures(): number {
    return this.options.disk?.failures ?? 0;
  }

  /** The catalogue image that is missing; the one before is in use. Null: none is missing. */
  get missingImage(): MissingImage | null {
    return this.options.target.missingImage ?? null;
  }

  /** Attempts to fetch a catalogue image that failed. */
  get imageFailures(): number {
    return this.options.target.imageFailures ?? 0;
  }

  /** Catalogue images that were fetched. */
  get imageCounters(): ImageCounters {
    return this.options.target.imageCounters ?? { whole: 0, built: 0, deltaFaults: 0 };
  }

  /** Messages on Redis that were ignored, by reason. */
  get refusedMessages(): Readonly<Record<Refusal, number>> {
    return this.link.refusedMessages;
  }

  /** Whether messages come from Redis now. Without it the follower asks the feed API only. */
  get isRedisConnected(): boolean {
    return this.link.isConnected;
  }

  private handle(event: FollowerEvent): void {
    const before = this.machine.phase.name;
    const effects = this.machine.handle(event);
    // Other callbacks ran while the follower was idle.
    if (before === 'idle' || before === 'starting' || before === 'awaiting')
      this.yielder = new Yielder();
    for (const effect of effects) this.carryOut(effect);
  }

  private carryOut(effect: FollowerEffect): void {
    switch (effect.type) {
      case 'load':
        return this.runStep(() => this.load(effect.cause, effect.atLeast));
      case 'apply':
        return this.runStep(() => this.apply(effect.change));
      case 'fetch':
        return this.runStep(() => this.fetch(effect.inForce));
      case 'announce':
        return this.runStep(() => this.announce(effect.inForce));
      case 'yield':
        return this.resumeAfter(this.yielder.yieldIfDue());
      case 'pause':
        return this.resumeAfter(
          this.waits.pause(effect.failures, this.snapshots.takeRetryAfterMs()),
        );
      case 'await':
        return this.waits.awaitChanges(() => {
          this.handle({ type: 'awaited' });
        });
      case 'acknowledge':
        return this.acknowledger.acknowledge(effect.inForce);
      case 'noteAtHead':
        this.atHeadMs = performance.now();
        return;
      case 'reportCaughtUp':
        return this.atHead.resolve(undefined);
      case 'recordIfDue':
        return this.configuration.recordIfDue(() => this.options.feed.snapshot(this.revision ?? 0));
      case 'count':
        this.counters[effect.counter]++;
        return;
      case 'countLoad':
        this.counters.loads[effect.cause]++;
        return;
      case 'log':
        return this.options.log[effect.level](effect.fields, effect.message);
      case 'reportStopped':
        return this.stopped.resolve(undefined);
    }
  }

  /** Runs one step, and reports its outcome. */
  private runStep(step: () => Promise<FollowerEvent>): void {
    void step()
      .catch((error: unknown) => failure(error))
      .then((event) => {
        this.handle(event);
      });
  }

  private resumeAfter(pause: Promise<void>): void {
    void pause.then(() => {
      this.handle({ type: 'resumed' });
    });
  }

  private async restore(): Promise<void> {
    const startedMs = performance.now();
    const head = await this.configuration.restore();
    if (head !== null) this.handle(this.loaded('disk', head, startedMs));
    this.link.predecessor = (await this.options.disk?.takeOver(this.options.id)) ?? null;
  }

  private async load(cause: LoadCause, atLeast: number): Promise<FollowerEvent> {
    const startedMs = performance.now();
    const head = await this.snapshots.load(atLeast);
    return this.loaded(cause, head, startedMs);
  }

  private loaded(cause: LoadCause, head: Head, startedMs: number): FollowerEvent {
    const nowMs = performance.now();
    this.inForceSinceMs = Math.min(this.inForceSinceMs, nowMs);
    const durationMs = Math.round(nowMs - startedMs);
    this.options.log.info({ cause, revision: head.revision, durationMs }, 'snapshot loaded');
    return { type: 'loaded', cause, head };
  }

  private async apply(change: Change): Promise<FollowerEvent> {
    return { type: 'applied', point: await this.configuration.apply(change) };
  }

  private async fetch({ revision }: Head): Promise<FollowerEvent> {
    const isOvertaken = (): boolean => this.machine.hasNextChange;
    const page = await fetchChanges(this.options.feed, revision, isOvertaken);
    if (page === 'overtaken') return { type: 'overtaken' };
    for (const change of page?.changes ?? []) this.spans.receive(change, revision);
    return page === null ? { type: 'logPruned' } : { type: 'fetched', page };
  }

  private async announce(inForce: Head): Promise<FollowerEvent> {
    await this.acknowledger.announce(inForce);
    return { type: 'announced' };
  }
}

function failure(error: unknown): FollowerEvent {
  return { type: 'failed', kind: failureKind(error), reason: String(error) };
}

function failureKind(error: unknown): FailureKind {
  if (error instanceof FeedError) return error.isRefusal ? 'refused' : 'unavailable';
  return error instanceof DigestError ? 'wrongDigest' : 'other';
}
