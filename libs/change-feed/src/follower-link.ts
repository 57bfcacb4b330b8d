import type { Change, Head } from '@weir/config-model';
import type { Redis } from 'ioredis';
import {
  type FollowerKind,
  type FollowerState,
  HEARTBEAT_MS,
  LEASE_MS,
  parseChangeMessage,
  parseHeadMessage,
  type RedisNames,
  redisNames,
} from './protocol.js';
import { connectRedis, type FeedLogger, startConnecting, subscribe } from './redis.js';

export interface FollowerLinkOptions {
  readonly id: string;
  readonly kind: FollowerKind;
  readonly redisUrl: string;
  readonly feedToken: string;
  readonly log: FeedLogger;
  readonly onChange: (change: Change) => void;
  readonly onHead: (head: Head) => void;
  /** Something may have been missed: the connection was renewed, or no head was heard for a while. */
  readonly onCutOff: () => void;
}

/** A follower's Redis: hears changes and heads, says which revision is in force, renews the lease. */
export class FollowerLink {
  private readonly commands: Redis;
  private readonly subscriber: Redis;
  private readonly names: RedisNames;
  private revision: number | null = null;
  private heartbeat: NodeJS.Timeout | undefined;
  private lastHeardMs = performance.now();

  constructor(private readonly options: FollowerLinkOptions) {
    this.names = redisNames(options.feedToken);
    this.commands = connectRedis(options.redisUrl, `${options.kind}-state`, options.log);
    this.subscriber = connectRedis(options.redisUrl, options.kind, options.log);
  }

  /** Subscribes. Resolves when Redis was tried once: without it the feed API alone is followed. */
  async start(): Promise<void> {
    this.subscriber.on('message', (channel: string, text: string) => {
      this.hear(channel, text);
    });
    const subscribed = new Promise<void>((resolve) => {
      this.subscriber.on('ready', () => {
        void this.subscribe().then(resolve);
      });
      this.subscriber.once('error', () => {
        resolve();
      });
    });
    await Promise.all([
      startConnecting(this.commands),
      startConnecting(this.subscriber, subscribed),
    ]);
    // A Redis that comes back may be empty.
    this.commands.on('ready', () => {
      this.renewLease();
    });
    this.heartbeat = setInterval(() => {
      this.beat();
    }, HEARTBEAT_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.heartbeat);
    if (this.commands.status === 'ready') {
      this.revision = null;
      await this.say('del');
    }
    this.commands.disconnect();
    this.subscriber.disconnect();
  }

  /** Makes this follower one that writes wait for. Resolves when Redis has it. */
  async announce(revision: number): Promise<void> {
    this.revision = revision;
    await this.say('set');
  }

  /** Says that the revision is in force, once announced. */
  acknowledge(revision: number): void {
    if (this.revision === null) return;
    this.revision = revision;
    void this.say('publish');
  }

  private async subscribe(): Promise<void> {
    const channels = [this.names.change, this.names.head];
    if (await subscribe(this.subscriber, channels, this.options.log)) this.options.onCutOff();
  }

  private beat(): void {
    if (performance.now() - this.lastHeardMs > LEASE_MS) this.options.onCutOff();
    this.renewLease();
  }

  private renewLease(): void {
    if (this.revision !== null) void this.say('set');
  }

  private hear(channel: string, text: string): void {
    this.lastHeardMs = performance.now();
    try {
      if (channel === this.names.head) {
        this.options.onHead(parseHeadMessage(text));
        return;
      }
      const message = parseChangeMessage(text);
      if ('operations' in message) this.options.onChange(message);
      else this.options.onHead(message);
    } catch (error) {
      // What it meant to say is in the log: the next head leads there.
      this.options.log.warn({ channel, reason: String(error) }, 'unreadable message');
    }
  }

  private async say(lease: 'set' | 'del' | 'publish'): Promise<void> {
    if (this.commands.status !== 'ready') return;
    const { id, kind } = this.options;
    const state: FollowerState = { id, kind, revision: this.revision };
    const text = JSON.stringify(state);
    try {
      if (lease === 'publish') {
        await this.commands.publish(this.names.follower, text);
        return;
      }
      const pipeline = this.commands.pipeline();
      if (lease === 'set') pipeline.set(this.names.lease(id), text, 'PX', LEASE_MS);
      else pipeline.del(this.names.lease(id));
      await pipeline.publish(this.names.follower, text).exec();
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, 'cannot say which revision is in force');
    }
  }
}
