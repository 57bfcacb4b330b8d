import type { Head } from '@weir/config-model';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { FEED_VERSION } from '../protocol/feed-version.js';
import { type Applied, FollowerRegistry } from './follower-registry.js';
import {
  type FollowerState,
  HEARTBEAT_MS,
  LEASE_MS,
  parseFollowerState,
  type Position,
  type PublishedChange,
  type RedisNames,
  redisNames,
  renderChangeMessage,
  renderHeadMessage,
} from '../protocol/protocol.js';
import { connectRedis, startConnecting, subscribe } from '../redis/redis.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

export interface ChangePublisherOptions {
  readonly redisUrl: string;
  /** Token of the feed API, which tells this deployment from others on the same Redis. */
  readonly feedToken: string;
  /** Where the change log stands, read from the database. */
  readonly readHead: () => Promise<Head>;
  readonly log: FeedLogger;
}

const PROBE_INTERVAL_MS = 250;
/** With a heartbeat and a little less than a lease: what is held back for a shorter time ends none. */
const PROBE_LATE_MS = 1_500;
/** Every live follower has spoken by then: each does so once a heartbeat, and at once when its connection is back. */
const ALL_FOLLOWERS_KNOWN_MS = 1.5 * HEARTBEAT_MS;
/** Two heartbeats and a little: shorter than a lease, so that a Redis that hangs ends none. */
const ANSWER_OVERDUE_MS = 2_500;

/**
 * The control plane's end of the change feed: publishes committed changes and the head, hears the followers' acknowledgements and
 * leases. Nothing here can fail a write: what Redis loses, followers fetch from the feed API.
 */
export class ChangePublisher {
  private readonly commands: Redis;
  private readonly subscriber: Redis;
  private readonly names: RedisNames;
  /** A channel of its own. */
  private readonly probeChannel: string;
  private readonly registry = new FollowerRegistry();
  /** Versions of followers that were said in the log. */
  private readonly otherVersions = new Set<number>();
  private timers: NodeJS.Timeout[] = [];
  private allKnownTimer: NodeJS.Timeout | undefined;
  private lastAnswerMs = 0;
  private lastProbeMs = 0;

  constructor(private readonly options: ChangePublisherOptions) {
    this.names = redisNames(options.feedToken);
    this.probeChannel = `${this.names.follower}:${randomUUID()}`;
    this.commands = connectRedis(options.redisUrl, 'publisher', options.log);
    this.subscriber = connectRedis(options.redisUrl, 'acknowledgements', options.log);
  }

  /** Connects and begins to publish the head each second. Resolves when Redis was tried once; an absent Redis is tried again for ever. */
  async start(): Promise<void> {
    this.subscriber.on('message', (channel: string, text: string) => {
      if (channel === this.probeChannel) this.receiveProbe(Number(text));
      else this.receive(text);
    });
    this.subscriber.on('ready', () => void this.subscribe());
    this.subscriber.on('close', () => clearTimeout(this.allKnownTimer));
    await Promise.all([startConnecting(this.commands), startConnecting(this.subscriber)]);
    await this.publishHead();
    this.timers = [
      setInterval(() => void this.publishHead(), HEARTBEAT_MS),
      setInterval(() => void this.sendProbe(), PROBE_INTERVAL_MS),
    ];
  }

  stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    clearTimeout(this.allKnownTimer);
    this.commands.disconnect();
    this.subscriber.disconnect();
    return Promise.resolve();
  }

  /** Publishes a committed change. Never rejects: followers that miss it find it in the log. */
  async publish(change: PublishedChange): Promise<void> {
    await this.send(this.names.change, renderChangeMessage(change));
  }

  /** Waits until every live resolver has the revision in force, at most `timeoutMs`; 0 does not wait. */
  waitApplied(position: Position, timeoutMs: number): Promise<Applied> {
    return this.registry.waitApplied(position, timeoutMs);
  }

  /** Ends all waits with what there is, and begins no more: the process is about to stop. */
  endWaits(): void {
    this.registry.endWaits();
  }

  /** The live followers with the revision each has in force. */
  followers(): readonly FollowerState[] {
    return this.registry.states();
  }

  /** Whether Redis is connected and has answered lately. */
  get connected(): boolean {
    if (this.commands.status !== 'ready' || this.subscriber.status !== 'ready') return false;
    return performance.now() - this.lastAnswerMs < ANSWER_OVERDUE_MS;
  }

  private async subscribe(): Promise<void> {
    const channels = [this.names.follower, this.probeChannel];
    if (!(await subscribe(this.subscriber, channels, this.options.log))) return;
    // Who spoke meanwhile was not heard.
    this.registry.renewAll(performance.now());
    clearTimeout(this.allKnownTimer);
    this.allKnownTimer = setTimeout(() => this.registry.markComplete(), ALL_FOLLOWERS_KNOWN_MS);
    try {
      await this.readLeases();
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'cannot read the leases of the followers');
    }
  }

  /** A replica that starts, or was cut off, learns at once who is alive; from a Redis that has just begun, when they speak. */
  private async readLeases(): Promise<void> {
    if (this.commands.status !== 'ready') return;
    const match = this.names.lease('*');
    for await (const keys of this.commands.scanStream({ match, count: 1_000 })) {
      if ((keys as string[]).length === 0) continue;
      for (const text of await this.commands.mget(keys as string[])) {
        if (text !== null) this.receive(text);
      }
    }
    if (this.subscriber.status !== 'ready') return;
    if ((await uptimeMs(this.commands)) > LEASE_MS) this.registry.markComplete();
  }

  private receive(text: string): void {
    try {
      const state = parseFollowerState(text);
      this.reportVersion(state);
      this.registry.update(state, performance.now());
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'unreadable message of a follower');
    }
  }

  /** It is waited for all the same: that a revision is in force there means the same in every version. */
  private reportVersion({ id, kind, feedVersion }: FollowerState): void {
    if (feedVersion === FEED_VERSION || this.otherVersions.has(feedVersion)) return;
    this.otherVersions.add(feedVersion);
    this.options.log.warn(
      { follower: id, kind, feedVersion, ownFeedVersion: FEED_VERSION },
      'a follower is of another version of the feed; changes wait for it as for any other',
    );
  }

  /** Speaks to itself on the way that followers take. */
  private async sendProbe(): Promise<void> {
    // What does not get through says nothing of the followers, and is no news.
    await this.commands
      .publish(this.probeChannel, String(performance.now()))
      .catch(() => undefined);
  }

  /** What followers said before a call was heard before its echo: whoever was silent until then was silent. */
  private receiveProbe(sentMs: number): void {
    const nowMs = performance.now();
    const gapMs = nowMs - Math.min(sentMs, this.lastProbeMs);
    this.lastProbeMs = nowMs;
    // Held back, or the first that gets through again: followers' words may have been held back too, and come now.
    if (gapMs > PROBE_LATE_MS) this.registry.renewAll(nowMs);
    else this.registry.removeExpired(sentMs);
  }

  private async publishHead(): Promise<void> {
    try {
      if (this.commands.status === 'ready') {
        await this.commands.ping();
        this.lastAnswerMs = performance.now();
      }
      const head = await this.options.readHead();
      if (this.commands.status === 'ready')
        await this.send(this.names.head, renderHeadMessage(head));
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'cannot publish the head revision');
    }
  }

  private async send(channel: string, text: string): Promise<void> {
    try {
      await this.commands.publish(channel, text);
    } catch (error) {
      this.options.log.warn({ channel, reason: String(error) }, 'cannot publish');
    }
  }
}

/** How long this Redis has been running at least. */
async function uptimeMs(redis: Redis): Promise<number> {
  const [, seconds] = /^uptime_in_seconds:(\d+)/m.exec(await redis.info('server')) ?? [];
  return Number(seconds ?? 0) * 1_000;
}
