import { type FeedLogger, logOutages } from '@weir/change-feed';
import { Redis } from 'ioredis';

const LONGEST_PAUSE_MS = 1_000;
/** BullMQ's longest wait in Redis is ten seconds: a connection that owes an answer for longer is given up. */
const SILENCE_MS = 30_000;

/** BullMQ wants commands that wait for the connection, however long that takes; nothing of a request runs here. */
const OPTIONS = {
  maxRetriesPerRequest: null,
  connectTimeout: 2_000,
  socketTimeout: SILENCE_MS,
  keepAlive: 5_000,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 5), LONGEST_PAUSE_MS),
  connectionName: 'weir-jobs',
};

/** The connection that queue and worker share, and the copies that BullMQ makes of it. */
export class JobConnections {
  readonly shared: Redis;
  private readonly all: Redis[] = [];

  constructor(url: string, log: FeedLogger) {
    this.shared = new Redis(url, OPTIONS);
    logOutages(this.shared, 'jobs', log);
    this.all.push(this.shared);
    const duplicate = this.shared.duplicate.bind(this.shared);
    this.shared.duplicate = (override) => {
      const copy = duplicate(override);
      // It goes down together with the first one, which says so.
      copy.on('error', () => undefined);
      this.all.push(copy);
      return copy;
    };
  }

  get isReady(): boolean {
    return this.shared.status === 'ready';
  }

  /** Ends all of them at once: BullMQ itself waits for a Redis that is away. */
  close(): void {
    for (const redis of this.all) redis.disconnect();
  }
}
