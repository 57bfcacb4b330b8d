import { ReadSide } from '@weir/policy';
import type { CacheInvitation } from './cache-memory.js';
import { CacheReader } from './cache-reader.js';

/**
 * The cache of another thread.
 *
 *     cache.enter();
 *     try {
 *       for (const query of batch) if (cache.find(…) === CacheResult.fresh) use(cache.read(…));
 *     } finally {
 *       cache.leave();
 *     }
 *
 * Between the two nothing is written, and the writer waits: no system call belongs there. What was read is a copy.
 */
export class SharedCache extends CacheReader {
  private readonly readSide: ReadSide;

  constructor({ memory, reader }: CacheInvitation) {
    super(memory, 1 + reader);
    this.readSide = new ReadSide(memory.lock, reader);
  }

  /** Begins a batch; waits while the writer writes. */
  enter(): void {
    this.readSide.enter();
  }

  leave(): void {
    this.readSide.leave();
  }
}
