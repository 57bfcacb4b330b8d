import type { Redis } from 'ioredis';
import type { DeploymentMessages } from '../protocol/deployment-messages.js';
import { LEASE_MS } from '../protocol/protocol.js';

export interface LeaseReaderOptions {
  readonly redis: Redis;
  readonly messages: DeploymentMessages;
  /** Called with the state in a lease that runs. */
  readonly onLive: (text: string) => void;
  /** Called with the last state in a lease that ended, and the time since the follower wrote it. */
  readonly onEnded: (text: string, ageMs: number) => void;
}

/** Reads the leases of the followers, which Redis keeps for a day. */
export class LeaseReader {
  constructor(private readonly options: LeaseReaderOptions) {}

  async read(): Promise<void> {
    const { redis, messages } = this.options;
    const { names } = messages;
    const ids = await redis.smembers(names.leases);
    if (ids.length === 0) return;
    const gone: string[] = [];
    for (const [i, message] of (await redis.mget(ids.map((id) => names.lease(id)))).entries()) {
      if (message === null) gone.push(ids[i] ?? '');
      else this.take(names.follower, message);
    }
    if (gone.length > 0) await redis.srem(names.leases, ...gone);
  }

  /** Whether this Redis has run for long enough to have the lease of every live follower. */
  async hasAllLeases(): Promise<boolean> {
    const info = await this.options.redis.info('server');
    const [, seconds] = /^uptime_in_seconds:(\d+)/m.exec(info) ?? [];
    return Number(seconds ?? 0) * 1_000 > LEASE_MS;
  }

  private take(channel: string, message: string): void {
    const { messages, onLive, onEnded } = this.options;
    const kept = messages.openKept(channel, message);
    if (kept !== null && kept.ageMs > LEASE_MS) {
      onEnded(kept.text, kept.ageMs);
      return;
    }
    // Often the same message was received a moment before.
    const text = messages.openAgain(channel, message);
    if (text !== null) onLive(text);
  }
}
