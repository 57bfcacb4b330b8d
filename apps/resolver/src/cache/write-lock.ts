import { WriteSide } from '@weir/policy';
import { type CacheMemory, State } from './cache-memory.js';

const FREE = 0;
const TAKEN = 1;
/** Taken, and other threads may sleep until it is free. */
const AWAITED = 2;

/** How often a thread looks at the mutex before it sleeps. This takes about a microsecond: longer than most writes. */
const SPINS = 500;
/** For how long a thread waits for the others that write. */
const MAX_WAIT_MS = 3;

/**
 * A mutex of the threads that write the cache. Nothing repairs it: a lane that dies ends the process, and one that dies
 * or loops inside is found by a thread that looks something up (`AnswerCacheOptions.onStuck`).
 */
export class WriteMutex {
  private readonly words: Int32Array;

  constructor({ state }: Pick<CacheMemory, 'state'>) {
    this.words = new Int32Array(state);
  }

  /** Waits for a bounded time. @returns false: another thread has it all the time */
  tryTake(): boolean {
    const { words } = this;
    if (Atomics.compareExchange(words, State.mutex, FREE, TAKEN) === FREE) return true;
    return this.takeLater();
  }

  release(): void {
    const { words } = this;
    const before = Atomics.exchange(words, State.mutex, FREE);
    if (before === AWAITED) Atomics.notify(words, State.mutex, 1);
  }

  private takeLater(): boolean {
    const { words } = this;
    for (let spin = 0; spin < SPINS; spin++) {
      if (Atomics.load(words, State.mutex) !== FREE) continue;
      if (Atomics.compareExchange(words, State.mutex, FREE, TAKEN) === FREE) return true;
    }
    const untilMs = performance.now() + MAX_WAIT_MS;
    for (;;) {
      // Others may sleep as well, so the next release wakes one.
      if (Atomics.exchange(words, State.mutex, AWAITED) === FREE) return true;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return false;
      Atomics.wait(words, State.mutex, AWAITED, leftMs);
    }
  }
}

/** Milliseconds for which a writer waits for each reader. */
const MAX_NAPS = 3;
/** After failures, at most this many writes are given up without a try. */
const MAX_GIVEN_UP = 64;

/** Lets one thread write the cache while no other thread writes or reads it. */
export class CacheWriteLock {
  private readonly readers: WriteSide;
  /** How many writes to give up without a try after the next failure. So a thread that hangs costs little time. */
  private toGiveUp = 0;
  /** How many of them are still to be given up now. */
  private leftToGiveUp = 0;

  constructor(
    { lock }: CacheMemory,
    private readonly mutex: WriteMutex,
  ) {
    this.readers = new WriteSide(lock);
  }

  /**
   * Takes the lock, until `leave`. This thread must not be inside a lookup.
   * @returns false: another thread did not end or leave in time, and nothing may be written
   */
  tryEnter(): boolean {
    if (this.leftToGiveUp > 0) {
      this.leftToGiveUp--;
      return false;
    }
    const hasEntered = this.tryExcludeOthers();
    this.leftToGiveUp = hasEntered ? 0 : this.toGiveUp;
    this.toGiveUp = hasEntered ? 0 : Math.min(2 * this.toGiveUp + 1, MAX_GIVEN_UP);
    return hasEntered;
  }

  leave(): void {
    this.readers.leave();
    this.mutex.release();
  }

  private tryExcludeOthers(): boolean {
    if (!this.mutex.tryTake()) return false;
    if (this.readers.tryEnter(MAX_NAPS)) return true;
    this.mutex.release();
    return false;
  }
}
