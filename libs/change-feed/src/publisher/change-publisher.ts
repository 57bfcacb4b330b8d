import type { LogPoint, Head } from '@weir/config-model';
import {
  type PublishedChange,
  type Traced,
  FEED_VERSION,
  type FollowerState,
  HEARTBEAT_MS,
  LEASE_MS,
  parseFollowerState,
  type Position,
  type ReportVersion,
  versionReporter,
} from '../protocol/protocol.js';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import {
  acknowledgementIntervalMs,
  renderChangeMessages,
  renderHeadMessage,
} from '../protocol/changes.js';
import { type Deployment, DeploymentMessages, type Refusal } from '../protocol/signed-messages.js';
import { RedisClock, connectRedis, startConnecting, subscribe } from '../redis/redis.js';
import { dropOldest, type FeedLogger, LastingFault } from '../runtime/runtime.js';
import { FollowerRegistry, type KnownResolver } from './follower-registry.js';
import { ClaimVerifier } from './claim-verifier.js';
import type { Applied } from './acknowledgements.js';

/** About as many as a follower fetches at once. */
const MAX_TRACES = 1_000;

/** The traces of the last changes that this process has published, for followers that fetch them. */
export class RecentTraces {
  /** By revision and digest: a log that was set back has another change with the same revision. */
  private readonly traces = new Map<string, string>();

  add({ revision, digest, traceparent }: PublishedChange): void {
    if (traceparent === undefined) return;
    this.traces.set(`${revision} ${digest}`, traceparent);
    dropOldest(this.traces, MAX_TRACES);
  }

  of({ revision, digest }: LogPoint): Traced {
    const traceparent = this.traces.get(`${revision} ${digest}`);
    return traceparent === undefined ? {} : { traceparent };
  }
}

export interface ChangePublisherOptions {
  readonly redisUrl: string;
  readonly deployment: Deployment;
  readonly readHead: () => Promise<Head>;
  /** How long a resolver counts after its lease has ended without a goodbye (decisions §10); 0 unless given. */
  readonly missingResolverMs?: number;
  readonly log: FeedLogger;
}

const PROBE_INTERVAL_MS = 250;
/** Longest delay of a probe: with a heartbeat shorter than a lease, so that a short delay ends none. */
const PROBE_LATE_MS = 1_500;
/** Every live follower has published its state by then: it does so each heartbeat, and at once after it reconnects. */
const ALL_FOLLOWERS_KNOWN_MS = 1.5 * HEARTBEAT_MS;
/** Longest time without an answer of Redis: more than two heartbeats and less than a lease. */
const ANSWER_OVERDUE_MS = 2_500;

/**
 * The control plane's end of the change feed: publishes committed changes and heads, receives the states of followers.
 * Nothing here can fail a write: followers fetch from the feed API what Redis loses.
 */
export class ChangePublisher {
  /** Is called with each revision that this process has committed, has read, or has heard of from a follower. */
  onRevision: (revision: number) => void = () => undefined;

  private readonly commands: Redis;
  private readonly subscriber: Redis;
  private readonly clock: RedisClock;
  private readonly messages: DeploymentMessages;
  /** A channel that only this publisher uses. */
  private readonly probeChannel: string;
  private readonly registry: FollowerRegistry;
  private readonly claims: ClaimVerifier;
  private readonly traces = new RecentTraces();
  private readonly reportVersion: ReportVersion;
  private timers: NodeJS.Timeout[] = [];
  /** A probe that is sent after this and is not late ends the search for followers. Infinity: not subscribed. */
  private allKnownMs = Infinity;
  /** Whether the leases were read, or could not be. They alone tell of the resolvers that are missing. */
  private hasReadLeases = false;
  private lastAnswerMs = 0;
  private readonly headFault: LastingFault;
  private readonly publishFault: LastingFault;
  private lastProbeMs = 0;

  constructor(private readonly options: ChangePublisherOptions) {
    this.registry = new FollowerRegistry(options.missingResolverMs, (name, followers) => {
      options.log.warn(
        { name, followers },
        'two resolvers that run claim one name, and both count: see RESOLVER_NAME',
      );
    });
    this.headFault = new LastingFault(options.log, 'cannot publish the head revision');
    this.publishFault = new LastingFault(options.log, 'cannot publish');
    this.reportVersion = versionReporter(
      options.log,
      'a follower has another version of the feed; writes wait for it as for any other',
    );
    this.claims = new ClaimVerifier({ ...options, onJudgeAgain: () => this.judgeAgain() });
    this.commands = connectRedis(options.redisUrl, 'publisher', options.log);
    this.clock = new RedisClock(this.commands);
    this.messages = new DeploymentMessages(options.deployment, options.log, this.clock.nowMs);
    this.probeChannel = `${this.messages.names.follower}:${randomUUID()}`;
    this.subscriber = connectRedis(options.redisUrl, 'acknowledgements', options.log);
  }

  /** Connects and begins to publish the head each second. Resolves after the first attempt; retries go on for ever. */
  async start(): Promise<void> {
    this.subscriber.on('message', (channel: string, message: string) => {
      const text = this.messages.open(channel, message);
      if (text === null) return;
      if (channel === this.probeChannel) this.receiveProbe(Number(text));
      else this.receive(text);
    });
    this.subscriber.on('ready', () => void this.subscribe());
    this.subscriber.on('close', () => this.noteUnsubscribed());
    this.commands.on('ready', () => void this.learnLeases());
    await Promise.all([
      startConnecting(this.commands, this.clock.asked),
      startConnecting(this.subscriber),
    ]);
    await this.publishHead();
    this.timers = [
      setInterval(() => void this.publishHead(), HEARTBEAT_MS),
      setInterval(() => void this.sendProbe(), PROBE_INTERVAL_MS),
    ];
  }

  stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.commands.disconnect();
    this.subscriber.disconnect();
    return Promise.resolve();
  }

  /** Publishes changes that were committed together. Never rejects: the feed API has what followers miss. */
  async publish(changes: readonly PublishedChange[]): Promise<void> {
    for (const change of changes) {
      this.claims.committed(change);
      this.traces.add(change);
      this.onRevision(change.revision);
    }
    await Promise.all(renderChangeMessages(changes).map((text) => this.send('change', text)));
  }

  /** Waits until every live resolver has the revision in force, at most `timeoutMs`; 0 does not wait. */
  waitApplied(position: Position, timeoutMs: number): Promise<Applied> {
    return this.registry.waitApplied(position, timeoutMs);
  }

  traceOf(point: LogPoint): Traced {
    return this.traces.of(point);
  }

  /** Ends all waits with the present counts, because the process is about to stop. Later waits end at once. */
  endWaits(): void {
    this.registry.endWaits();
  }

  /** The live followers with the revision each has in force. */
  followers(): readonly FollowerState[] {
    return this.registry.states();
  }

  /** The resolvers that count in `X-Config-Applied`. Their times are those of `performance.now()`. */
  resolvers(): readonly KnownResolver[] {
    return this.registry.resolvers();
  }

  /** Resolvers whose lease ended a while ago without a goodbye. They may be answering queries. */
  get missingResolvers(): number {
    return this.registry.missingCount;
  }

  get refusedMessages(): Readonly<Record<Refusal, number>> {
    return this.messages.refused;
  }

  /** Whether Redis answers, and lets this publisher subscribe and publish. */
  get connected(): boolean {
    if (this.commands.status !== 'ready' || this.subscriber.status !== 'ready') return false;
    if (this.allKnownMs === Infinity || this.publishFault.isThere) return false;
    return performance.now() - this.lastAnswerMs < ANSWER_OVERDUE_MS;
  }

  private async subscribe(): Promise<void> {
    const channels = [this.messages.names.follower, this.probeChannel];
    if (!(await subscribe(this.subscriber, channels, this.options.log))) return;
    // States that were published meanwhile are lost.
    this.registry.renewAll(performance.now());
    this.allKnownMs = performance.now() + ALL_FOLLOWERS_KNOWN_MS;
    await this.learnLeases();
  }

  /** Followers may start from now on that are not heard of. */
  private noteUnsubscribed(): void {
    this.allKnownMs = Infinity;
    this.hasReadLeases = false;
    this.registry.markIncomplete();
  }

  /** Call it when a connection is ready: the leases can be read once both are. */
  private async learnLeases(): Promise<void> {
    const { allKnownMs } = this;
    if (allKnownMs === Infinity || this.commands.status !== 'ready') return;
    let areComplete = false;
    try {
      await this.clock.asked;
      areComplete = await this.readLeases();
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'cannot read the leases of the followers');
    }
    // The subscription has ended meanwhile, and may have begun anew: followers may have come between.
    if (this.allKnownMs !== allKnownMs) return;
    this.hasReadLeases = true;
    if (areComplete) this.registry.markComplete();
  }

  /**
   * Learns from the leases, which Redis keeps for a day, which followers are alive or missing: at the start and after
   * each reconnection.
   * @returns whether they are all: a Redis that has just started may have lost some
   */
  private async readLeases(): Promise<boolean> {
    const { commands: redis, messages } = this;
    const { names } = messages;
    const ids = await redis.smembers(names.leases);
    const leases = ids.length === 0 ? [] : await redis.mget(ids.map((id) => names.lease(id)));
    for (const lease of leases) if (lease !== null) this.receiveLease(lease);
    const gone = ids.filter((_id, i) => leases[i] === null);
    if (gone.length > 0) await redis.srem(names.leases, ...gone);
    const [, uptimeS] = /^uptime_in_seconds:(\d+)/m.exec(await redis.info('server')) ?? [];
    return Number(uptimeS ?? 0) * 1_000 > LEASE_MS;
  }

  private receiveLease(lease: string): void {
    const channel = this.messages.names.follower;
    const kept = this.messages.read(channel, lease);
    const ageMs = this.clock.nowMs() - (kept?.sentMs ?? 0);
    if (kept !== null && ageMs > LEASE_MS) return this.receiveEndedLease(kept.text, ageMs);
    // Often the same message was received a moment before.
    const message = this.messages.verify(channel, lease);
    if (typeof message !== 'string') this.receive(message.text, ageMs);
  }

  private receiveEndedLease(text: string, ageMs: number): void {
    try {
      const state = parseFollowerState(text);
      const nowMs = performance.now();
      if (state.kind !== 'resolver' || state.inForce === null) return;
      this.registry.addMissing(state, nowMs - ageMs + LEASE_MS, nowMs);
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'cannot read the lease of a follower');
    }
  }

  /** @param ageMs how long ago it was said */
  private receive(text: string, ageMs = 0): void {
    const { log } = this.options;
    try {
      const state = parseFollowerState(text);
      const { id, name, kind, inForce, feedVersion } = state;
      // Writes wait for a follower of any version: `inForce` means the same in all.
      if (feedVersion !== FEED_VERSION) this.reportVersion(feedVersion, { follower: id, kind });
      const judgement = this.claims.judge(state, !this.registry.has(id));
      const nowMs = performance.now();
      this.registry.update(state, nowMs, judgement, nowMs - Math.max(0, ageMs));
      if (inForce !== null) this.onRevision(inForce.revision);
      if (judgement === 'unknown') void this.claims.resolveDoubts();
      if (judgement === 'wrong')
        log.warn(
          { follower: id, name, kind, revision: inForce?.revision },
          'a follower has another configuration than the log has at this revision; it does not count as applied',
        );
    } catch (error) {
      log.warn({ reason: String(error) }, 'cannot read the message of a follower');
    }
  }

  private judgeAgain(): void {
    this.registry.judge((state) => this.claims.judge(state));
    this.registry.hold(this.claims.isInDoubt);
  }

  /** Sends a message to itself, on the way that the messages of followers take. */
  private async sendProbe(): Promise<void> {
    // A failed probe tells nothing about the followers, and the outage is logged elsewhere.
    await this.commands
      .publish(this.probeChannel, this.messages.sign(this.probeChannel, String(performance.now())))
      .catch(() => undefined);
  }

  /** Messages arrive in order. So whatever followers published before the probe was sent has arrived before it. */
  private receiveProbe(sentMs: number): void {
    const nowMs = performance.now();
    const gapMs = nowMs - Math.min(sentMs, this.lastProbeMs);
    this.lastProbeMs = nowMs;
    // The probe is late, so messages of followers may be late too, and still arrive.
    if (gapMs > PROBE_LATE_MS) return this.registry.renewAll(nowMs);
    if (this.hasReadLeases && sentMs > this.allKnownMs) this.registry.markComplete();
    this.registry.removeExpired(sentMs);
  }

  private async publishHead(): Promise<void> {
    try {
      if (this.commands.status === 'ready') {
        await this.commands.ping();
        this.lastAnswerMs = performance.now();
      }
      const head = await this.claims.readHead();
      this.onRevision(head.revision);
      const message = {
        head,
        acknowledgementIntervalMs: acknowledgementIntervalMs(this.registry.size),
      };
      if (this.commands.status === 'ready') await this.send('head', renderHeadMessage(message));
      this.headFault.end();
    } catch (error) {
      this.headFault.note(error);
      // Without the head nothing is published, so a fault of publishing could not end.
      this.publishFault.end();
    }
  }

  private async send(kind: 'change' | 'head', text: string): Promise<void> {
    try {
      const channel = this.messages.names[kind];
      await this.commands.publish(channel, this.messages.sign(channel, text));
      this.publishFault.end();
    } catch (error) {
      this.publishFault.note(error, { channel: kind });
    }
  }
}
