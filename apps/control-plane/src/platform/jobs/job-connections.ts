import { type FeedLogger, logOutages } from '@weir/change-feed';
import { Redis } from 'ioredis';

const MAX_RETRY_DELAY_MS = 1_000;
/** BullMQ's longest blocking command takes ten seconds. A connection without a reply for this time is closed. */
const SOCKET_TIMEOUT_MS = 30_000;

/** BullMQ requires commands that wait for the connection without a limit. No request uses these connections. */
const OPTIONS = {
  maxRetriesPerRequest: null,
  connectTimeout: 2_000,
  socketTimeout: SOCKET_TIMEOUT_MS,
  keepAlive: 5_000,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 5), MAX_RETRY_DELAY_MS),
  connectionName: 'weir-jobs',
};

/** The connection that queues and workers share, and the duplicates that BullMQ creates. */
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
      // An outage affects the shared connection too, which logs it.
      copy.on('error', () => undefined);
      this.all.push(copy);
      return copy;
    };
  }

  get isReady(): boolean {
    return this.shared.status === 'ready';
  }

  /** The time of Redis in milliseconds since 1970, on which all replicas agree. */
  async nowMs(): Promise<number> {
    try {
      const [seconds, microseconds] = await this.shared.time();
      return seconds * 1_000 + microseconds / 1_000;
    } catch {
      // The user of Redis may not ask: our own time has to do.
      return Date.now();
    }
  }

  /** Closes all connections at once. BullMQ itself would wait for a Redis that is out of reach. */
  close(): void {
    for (const redis of this.all) redis.disconnect();
  }
}
