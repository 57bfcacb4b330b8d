import { setImmediate } from 'node:timers/promises';
import type { AnswerCache } from '../cache/answer-cache.js';
import type { NameRange } from '../query/name-range.js';
import type { Forwarder } from '../upstream/forwarder.js';

/**
 * Removes names from the cache. The answer to a question that is in flight reaches the clients that wait for it, but
 * not the cache, and clients that ask after the flush do not wait for it.
 */
export class CacheFlush {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly cache: AnswerCache,
    private readonly forwarder: Forwarder,
  ) {}

  /** Removes everything, in pieces between queries. @returns the number of answers and failures */
  all(): Promise<number> {
    return this.run(null);
  }

  /**
   * Searches the whole cache, in pieces between queries.
   * @returns the number of answers and failures
   */
  names(names: NameRange): Promise<number> {
    return this.run(names);
  }

  /** After the flushes before it. */
  private run(names: NameRange | null): Promise<number> {
    const flush = this.last.then(() => this.remove(names));
    this.last = flush.catch(() => undefined);
    return flush;
  }

  private async remove(names: NameRange | null): Promise<number> {
    this.forwarder.forget(names);
    let removed = 0;
    for (const count of names === null ? this.cache.flushAll() : this.cache.flush(names)) {
      removed += count;
      await setImmediate();
    }
    return removed;
  }
}
