import type { Change, Head } from '@weir/config-model';
import type { FeedClient } from '../client/feed-client.js';
import { FeedError } from '../client/feed-requests.js';
import type { ConfigurationStore } from '../disk/configuration-store.js';
import type { Refusal } from '../protocol/signed-messages.js';
import { retryDelayMs, Yielder } from '../runtime/runtime.js';
import { ChangeSpans, type FollowerTracer } from './change-spans.js';
import { FollowerLink, type FollowerLinkOptions } from './follower-link.js';
import { FollowerMachine } from './machine/follower-machine.js';
import type {
  FailureKind,
  FollowerCounters,
  FollowerEffect,
  FollowerEvent,
  FollowerPhase,
  LoadCause,
} from './machine/follower-state.js';
import {
  DigestError,
  type FollowerTarget,
  PersistedConfiguration,
  SnapshotLoader,
} from './persisted-configuration.js';

const POLL_MS = 100;
/** How long a follower waits for the message of a change before it asks the feed API. */
const LEAST_AWAIT_MS = 50;
/** Followers wait differently long, so that they do not ask all at once. */
const AWAIT_JITTER_MS = 200;

/** The phases during which other callbacks run. */
const RESTING: readonly FollowerPhase[] = ['starting', 'idle', 'awaiting', 'retrying'];

export interface FollowerOptions extends Omit<FollowerLinkOptions, 'onEvent'> {
  /** Owned by the follower, which closes it when it stops. */
  readonly feed: FeedClient;
  readonly target: FollowerTarget;
  /** Where the configuration is stored to start from; without it the follower starts from the feed API. */
  readonly disk?: ConfigurationStore;
  readonly tracer?: FollowerTracer | undefined;
  /** Called before it tells the control plane what is in force. */
  readonly onAcknowledge?: (() => void) | undefined;
}

/** Where a follower is, as plain data. `refusedMessages` and `counters` are no copies: they go on counting. */
export interface FollowerReport {
  /** In force; null before the first snapshot. */
  readonly revision: number | null;
  /** The newest that was announced; null before any. */
  readonly headRevision: number | null;
  /** Since what is in force was last known to be the newest. It stays below two heartbeats while all is well. */
  readonly lagMs: number;
  /** Whether what is in force was the newest at least once. */
  readonly isCaughtUp: boolean;
  /** Since the first configuration was put in force, from disk or from the feed; 0 before. */
  readonly inForceForMs: number;
  /** Without Redis the follower asks the feed API only. */
  readonly isRedisConnected: boolean;
  /** Whether a start from disk would have all that is in force. Without a disk there is nothing to miss. */
  readonly isDiskCurrent: boolean;
  /** Errors of the disk, and how often it hung for too long. */
  readonly diskFailures: number;
  readonly refusedMessages: Readonly<Record<Refusal, number>>;
  readonly counters: FollowerCounters;
}

/**
 * Keeps a target at the head of the change log. `FollowerMachine` decides; this class carries out the effects and
 * reports their outcomes as events. One step is under way at a time.
 */
export class Follower {
  private readonly machine = new FollowerMachine();
  private readonly link: FollowerLink;
  private readonly configuration: PersistedConfiguration;
  private readonly snapshots: SnapshotLoader;
  private readonly spans: ChangeSpans;
  private isStopping = false;
  private pausing: NodeJS.Timeout | undefined;
  private awaiting: NodeJS.Timeout | undefined;
  private unacknowledged: Head | null = null;
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
      onEvent: (event) => {
        if (event.type === 'changeReceived') this.spans.receive(event.change, this.revision);
        if (event.type === 'largeChangeReceived') this.spans.receive(event.head, this.revision);
        this.handle(event);
      },
    });
  }

  /**
   * Puts in force what is on disk, if anything. Then subscribes, and follows the log. Resolves when the target is at
   * the head and complete, as far as what it lacks could be fetched at once, or at `stop`.
   */
  async start(): Promise<void> {
    this.restoring = this.restore();
    await this.restoring;
    if (this.isStopping) return;
    await this.link.start();
    this.handle({ type: 'started' });
    await this.atHead.promise;
    await this.options.target.complete?.();
  }

  /** Removes the lease, so that no write waits for this follower, and ends. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.pausing);
    clearTimeout(this.awaiting);
    this.handle({ type: 'stop' });
    this.options.feed.close();
    await this.link.stop();
    await this.stopped.promise;
    await this.restoring;
    await this.configuration.close();
    this.atHead.resolve(undefined);
  }

  get report(): FollowerReport {
    const { machine, link } = this;
    const { disk } = this.options;
    const nowMs = performance.now();
    return {
      revision: this.revision,
      headRevision: machine.head?.revision ?? this.revision,
      lagMs: nowMs - this.atHeadMs,
      isCaughtUp: machine.isCaughtUp,
      inForceForMs: Math.max(0, nowMs - this.inForceSinceMs),
      isRedisConnected: link.isConnected,
      isDiskCurrent: disk?.isCurrent ?? true,
      diskFailures: disk?.failures ?? 0,
      refusedMessages: link.refusedMessages,
      counters: machine.counters,
    };
  }

  private get revision(): number | null {
    return this.machine.inForce?.revision ?? null;
  }

  private handle(event: FollowerEvent): void {
    const { machine } = this;
    const before = machine.phase;
    const effects = machine.handle(event);
    if (RESTING.includes(before)) this.yielder = new Yielder();
    for (const effect of effects) this.carryOut(effect);
    if (machine.isCaughtUp) this.atHead.resolve(undefined);
    if (machine.phase === 'stopped') this.stopped.resolve(undefined);
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
        return this.yieldIfDue();
      case 'pause':
        return this.pause(effect.failures);
      case 'await':
        return this.awaitChanges();
      case 'acknowledge':
        return this.acknowledge(effect.inForce);
      case 'noteAtHead':
        this.atHeadMs = performance.now();
        return;
      case 'recordIfDue':
        return this.configuration.recordIfDue(() => this.options.feed.snapshot(this.revision ?? 0));
      case 'log':
        return this.options.log[effect.level](effect.fields, effect.message);
    }
  }

  private runStep(step: () => Promise<FollowerEvent>): void {
    void step()
      .catch(failure)
      .then((event) => this.handle(event));
  }

  private yieldIfDue(): void {
    void this.yielder.yieldIfDue().then(() => this.handle({ type: 'resumed' }));
  }

  private pause(failures: number): void {
    clearTimeout(this.pausing);
    const delayMs = retryDelayMs(failures, Math.random());
    const pauseMs = Math.max(this.snapshots.takeRetryAfterMs(), delayMs);
    this.pausing = setTimeout(() => this.handle({ type: 'retried' }), pauseMs);
  }

  /** Changes that all followers have missed together are asked for at random times. */
  private awaitChanges(): void {
    clearTimeout(this.awaiting);
    const waitMs = LEAST_AWAIT_MS + Math.random() * AWAIT_JITTER_MS;
    this.awaiting = setTimeout(() => this.handle({ type: 'awaited' }), waitMs);
  }

  private async restore(): Promise<void> {
    const startedMs = performance.now();
    const head = await this.configuration.restore();
    if (head !== null) this.handle(this.loaded('disk', head, startedMs));
    this.link.predecessor = (await this.options.disk?.takeOver(this.options.id)) ?? null;
  }

  private async load(cause: LoadCause, atLeast: number): Promise<FollowerEvent> {
    const startedMs = performance.now();
    const head = await this.snapshots.load(atLeast, this.machine.inForce);
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

  /** The first acknowledgement, which writes the lease. */
  private async announce(inForce: Head): Promise<FollowerEvent> {
    await this.stored();
    await this.link.announce(inForce);
    return { type: 'announced' };
  }

  /** Once it is on disk, or the disk is late. Of several revisions that wait, only the last is published. */
  private acknowledge(inForce: Head): void {
    this.spans.noteInForce(inForce.revision);
    const isWaiting = this.unacknowledged !== null;
    this.unacknowledged = inForce;
    if (!isWaiting) void this.publishStored();
  }

  private async publishStored(): Promise<void> {
    while (this.unacknowledged !== null) {
      const inForce = this.unacknowledged;
      await this.stored();
      this.link.acknowledge(inForce);
      this.spans.end(inForce.revision);
      if (this.unacknowledged === inForce) this.unacknowledged = null;
    }
  }

  private async stored(): Promise<void> {
    await this.configuration.stored();
    this.options.onAcknowledge?.();
  }
}

function failure(error: unknown): FollowerEvent {
  return { type: 'failed', kind: failureKind(error), reason: String(error) };
}

function failureKind(error: unknown): FailureKind {
  if (error instanceof FeedError) return error.isRefusal ? 'refused' : 'unavailable';
  return error instanceof DigestError ? 'wrongDigest' : 'other';
}

/** As `feed.changesAfter`, but gives up when the next change has come from Redis, however slow the feed API is. */
async function fetchChanges(
  feed: FeedClient,
  revision: number,
  isOvertaken: () => boolean,
): Promise<Awaited<ReturnType<FeedClient['changesAfter']>> | 'overtaken'> {
  const overtaken = new AbortController();
  const poll = setInterval(() => {
    if (isOvertaken()) overtaken.abort(new FeedError('a message was quicker'));
  }, POLL_MS);
  try {
    return await feed.changesAfter(revision, overtaken.signal);
  } catch (error) {
    if (overtaken.signal.aborted) return 'overtaken';
    throw error;
  } finally {
    clearInterval(poll);
  }
}
