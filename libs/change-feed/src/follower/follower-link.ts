import type { Head } from '@weir/config-model';
import type { Redis } from 'ioredis';
import { parseChangeMessage, parseHeadMessage } from '../protocol/changes.js';
import { type Deployment, DeploymentMessages, type Refusal } from '../protocol/signed-messages.js';
import {
  FEED_VERSION,
  FeedVersionError,
  type FollowerKind,
  type FollowerState,
  HEARTBEAT_MS,
  LEASE_KEPT_MS,
  LEASE_MS,
  type ResolverStatus,
  type ReportVersion,
  versionReporter,
} from '../protocol/protocol.js';
import { RedisClock, connectRedis, startConnecting, subscribe } from '../redis/redis.js';
import { type FeedLogger, LastingFault } from '../runtime/runtime.js';
import type { ReceivedEvent } from './machine/follower-state.js';

/**
 * Decides when a follower publishes what is in force. The first time at the end of this turn of the event loop, so that
 * of several changes that one turn puts in force only the last is published. Further times not before `intervalMs` have
 * passed: many followers must not publish more together than the control plane can read.
 */
export class AcknowledgementPace {
  intervalMs = 0;
  private lastMs = -Infinity;
  private isDue = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param publish publishes what is in force when it is called. */
  constructor(private readonly publish: () => void) {}

  /** Call it when something new is in force. */
  request(): void {
    if (this.isDue) return;
    this.isDue = true;
    const waitMs = this.lastMs + this.intervalMs - performance.now();
    if (waitMs <= 0) setImmediate(() => this.end());
    else this.timer = setTimeout(() => this.end(), waitMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.isDue = false;
  }

  private end(): void {
    if (!this.isDue) return;
    this.isDue = false;
    this.lastMs = performance.now();
    this.publish();
  }
}

export interface FollowerLinkOptions {
  /** Unique among all followers, and new at each start. */
  readonly id: string;
  readonly kind: FollowerKind;
  /** Stays the same over a restart, and no other live follower has it (decisions §10). Unset: it has none. */
  readonly name?: string | undefined;
  readonly redisUrl: string;
  readonly deployment: Deployment;
  /** What the control plane is told each second besides, for people. */
  readonly status?: (() => ResolverStatus | undefined) | undefined;
  readonly log: FeedLogger;
  /** `messagesMissed`: the connection is new, no message came for a while, or one had another feed version. */
  readonly onEvent: (event: ReceivedEvent) => void;
}

/** Connections to Redis: receives changes and heads, publishes the revision in force, renews the lease. */
export class FollowerLink {
  private readonly commands: Redis;
  private readonly subscriber: Redis;
  private readonly clock: RedisClock;
  private readonly messages: DeploymentMessages;
  /** What the lease says. Null: there is no lease, before `announce` and after `stop`. */
  private inForce: Head | null = null;
  private isStopped = false;
  private isSubscribed = false;
  private readonly sendFault: LastingFault;
  /** Id of the run of this follower before, which has ended; null: it is not known. */
  predecessor: string | null = null;
  private readonly pace = new AcknowledgementPace(() => void this.send('publish'));
  private heartbeatTimer: NodeJS.Timeout | undefined;
  /** The first attempt to reach Redis with commands, and to learn its time. */
  private connecting: Promise<void> = Promise.resolve();
  private lastMessageMs = performance.now();
  private readonly reportVersion: ReportVersion;

  constructor(private readonly options: FollowerLinkOptions) {
    this.commands = connectRedis(options.redisUrl, `${options.kind}-state`, options.log);
    this.clock = new RedisClock(this.commands);
    this.messages = new DeploymentMessages(options.deployment, options.log, this.clock.nowMs);
    this.subscriber = connectRedis(options.redisUrl, options.kind, options.log);
    this.sendFault = new LastingFault(options.log, 'cannot publish the revision in force');
    this.reportVersion = versionReporter(
      options.log,
      'the control plane publishes another version of the feed; changes are fetched from the feed API instead',
    );
  }

  /** Subscribes. Resolves after the first attempt, whether or not it succeeded: the feed API is enough to follow. */
  async start(): Promise<void> {
    this.subscriber.on('message', (channel, text) => this.receive(channel, text));
    this.subscriber.on('close', () => (this.isSubscribed = false));
    const subscribed = new Promise<void>((resolve) => {
      this.subscriber.on('ready', () => void this.subscribe().then(resolve));
      this.subscriber.once('error', () => resolve());
    });
    this.connecting = startConnecting(this.commands, this.clock.asked);
    await Promise.all([this.connecting, startConnecting(this.subscriber, subscribed)]);
    // A Redis that comes back may have lost the lease.
    this.commands.on('ready', () => this.renewLease());
    this.heartbeatTimer = setInterval(() => this.onHeartbeat(), HEARTBEAT_MS);
  }

  get refusedMessages(): Readonly<Record<Refusal, number>> {
    return this.messages.refused;
  }

  /** Whether both connections to Redis are up, and changes come. A half-open connection is closed within seconds. */
  get isConnected(): boolean {
    return this.commands.status === 'ready' && this.isSubscribed;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.heartbeatTimer);
    this.pace.stop();
    if (this.commands.status === 'ready') {
      this.inForce = null;
      await this.send('del');
    }
    this.commands.disconnect();
    this.subscriber.disconnect();
  }

  /**
   * Writes the lease: from now on writes wait for this follower. Says goodbye for the run before, which may have been
   * killed. Resolves when Redis has it.
   */
  async announce(inForce: Head): Promise<void> {
    // The other connection may have been quicker, and have led here.
    await this.connecting;
    // A lease that is written after the goodbye would count as a missing resolver.
    if (this.isStopped) return;
    this.inForce = inForce;
    await this.send('set');
    if (this.predecessor !== null) await this.send('del', this.predecessor);
  }

  /** Publishes the revision in force, see `AcknowledgementPace`. Does nothing before `announce`. */
  acknowledge(inForce: Head): void {
    if (this.inForce === null) return;
    this.inForce = inForce;
    this.pace.request();
  }

  private async subscribe(): Promise<void> {
    const { change, head } = this.messages.names;
    if (!(await subscribe(this.subscriber, [change, head], this.options.log))) return;
    this.isSubscribed = true;
    this.noteMissed();
  }

  private onHeartbeat(): void {
    if (performance.now() - this.lastMessageMs > LEASE_MS) this.noteMissed();
    this.renewLease();
  }

  private noteMissed(): void {
    this.options.onEvent({ type: 'messagesMissed' });
  }

  private renewLease(): void {
    if (this.inForce !== null) void this.send('set');
  }

  private receive(channel: string, sent: string): void {
    const text = this.messages.open(channel, sent);
    if (text === null) return;
    this.lastMessageMs = performance.now();
    const { onEvent, log } = this.options;
    try {
      if (channel === this.messages.names.head) {
        const { head, acknowledgementIntervalMs } = parseHeadMessage(text);
        this.pace.intervalMs = acknowledgementIntervalMs;
        return onEvent({ type: 'headReceived', head });
      }
      const message = parseChangeMessage(text);
      if (message.type === 'head') onEvent({ type: 'largeChangeReceived', head: message.head });
      else for (const change of message.changes) onEvent({ type: 'changeReceived', change });
    } catch (error) {
      if (error instanceof FeedVersionError) {
        // Its content is not used. The changes are fetched from the feed API, in the version of this process.
        this.noteMissed();
        return this.reportVersion(error.version);
      }
      // The change is in the log. The next head leads to it.
      log.warn({ channel, reason: String(error) }, 'cannot read a message');
    }
  }

  /** @param id whose state it is; `del` is a goodbye */
  private async send(command: 'set' | 'del' | 'publish', id = this.options.id): Promise<void> {
    if (this.commands.status !== 'ready') return;
    const { kind, name = null } = this.options;
    const status = command === 'set' ? this.options.status?.() : undefined;
    const inForce = command === 'del' ? null : this.inForce;
    const state: FollowerState = { id, kind, name, inForce, feedVersion: FEED_VERSION, status };
    const text = JSON.stringify(state);
    try {
      const pipeline = this.commands.pipeline();
      const { names } = this.messages;
      const message = this.messages.sign(names.follower, text);
      if (command === 'set') {
        pipeline.set(names.lease(id), message, 'PX', LEASE_KEPT_MS);
        pipeline.sadd(names.leases, id).pexpire(names.leases, LEASE_KEPT_MS);
      }
      if (command === 'del') pipeline.del(names.lease(id)).srem(names.leases, id);
      pipeline.publish(names.follower, message);
      // It does not reject when Redis refuses a command.
      for (const [refusal] of (await pipeline.exec()) ?? []) if (refusal !== null) throw refusal;
      this.sendFault.end();
    } catch (error) {
      this.sendFault.note(error);
    }
  }
}
