import { type Head, RowError } from '@weir/config-model';
import { type FeedClient, FeedError } from '../client/feed-client.js';
import { MADE_ANEW } from '../protocol/protocol.js';
import type { PersistedConfiguration } from './persisted-configuration.js';

/** Loads snapshots from the feed API. */
export class SnapshotLoader {
  /** The last snapshot was damaged or wrong. The feed API keeps its snapshots, so it would send the same again. */
  private wasUnusable = false;
  private retryAfterMs = 0;

  constructor(
    private readonly feed: Pick<FeedClient, 'snapshot'>,
    private readonly configuration: Pick<PersistedConfiguration, 'load'>,
  ) {}

  /** Puts a snapshot in force that has at least this revision. */
  async load(atLeast: number): Promise<Head> {
    try {
      const parts = this.feed.snapshot(this.wasUnusable ? MADE_ANEW : atLeast);
      const head = await this.configuration.load(parts);
      this.wasUnusable = false;
      return head;
    } catch (error) {
      if (error instanceof FeedError) this.retryAfterMs = error.retryAfterMs;
      else if (error instanceof RowError) this.wasUnusable = true;
      throw error;
    }
  }

  /** The least pause after the load that has failed, as the feed API has asked for; 0 when asked again. */
  takeRetryAfterMs(): number {
    const { retryAfterMs } = this;
    this.retryAfterMs = 0;
    return retryAfterMs;
  }
}
