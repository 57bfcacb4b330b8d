/*
 * A big-reader lock: many threads read, one at a time writes. A reader writes only its own word, so readers never wait
 * for each other. Words of its buffer, each in a cache line of its own:
 *
 *   line 0       1 while the writer wants to write, or writes; else 0
 *   line 1 + r   the state of reader r
 *
 * Enter, the reader: state ← reading; if the writer wants to write: state ← waiting, sleep until it has written, again.
 * Write, the writer: wanted ← 1; wait until no state is reading; write; wanted ← 0.
 *
 * Atomics are sequentially consistent. So either the reader sees that the writer wants to write, or the writer sees
 * that the reader reads. And what a thread did before it stores a word is seen by the thread that loads this value:
 * readers see all of a write or nothing.
 */

const LINE_WORDS = 16;
const WANTED = 0;

const AWAY = 0;
const READING = 1;
const WAITING = 2;

/** Looks at a word before a thread sleeps: about a microsecond, longer than most lookups in the cache. */
const SPINS = 500;
/** A thread sleeps so long at most, then looks again. */
const NAP_MS = 1;
/**
 * Naps of a reader, two seconds in all, after which the writer is stuck: a write takes less than a millisecond. Time in
 * which the whole process is stopped does not count.
 */
const PATIENCE_NAPS = 2_000;

/** The memory of a lock, to be sent to all threads. */
export function createReaderLock(readers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + readers) * LINE_WORDS * Int32Array.BYTES_PER_ELEMENT);
}

function stateOf(reader: number): number {
  return (1 + reader) * LINE_WORDS;
}

/** The lock in the thread of one reader. Each reader has a number of its own, from 0. */
export class ReadSide {
  private readonly words: Int32Array;
  private readonly state: number;

  /**
   * @param onStuck called when the writer has kept this reader out for two seconds: its thread has died or loops, and
   *   the event loop of this thread cannot hear of it. Without it, or when it returns, the reader goes on waiting.
   */
  constructor(
    lock: SharedArrayBuffer,
    reader: number,
    private readonly onStuck?: () => void,
  ) {
    this.words = new Int32Array(lock);
    this.state = stateOf(reader);
  }

  /**
   * Begins to read; waits while the writer writes. Allocates nothing. `leave` must follow soon, as the writer waits for
   * it. A reader of the policy enters for one batch, one of the cache for one lookup. Inside, it waits for nothing that
   * takes longer than a write to the cache.
   */
  enter(): void {
    const { words, state } = this;
    Atomics.store(words, state, READING);
    if (Atomics.load(words, WANTED) !== 0) this.waitForWriter();
  }

  leave(): void {
    const { words, state } = this;
    Atomics.store(words, state, AWAY);
    if (Atomics.load(words, WANTED) !== 0) Atomics.notify(words, state);
  }

  private waitForWriter(): void {
    const { words, state } = this;
    let naps = 0;
    do {
      Atomics.store(words, state, WAITING);
      Atomics.notify(words, state);
      // The nap ends by itself, should the writer have died.
      if (sleepWhile(words, WANTED, 1) === 'timed-out' && ++naps === PATIENCE_NAPS)
        this.onStuck?.();
      Atomics.store(words, state, READING);
    } while (Atomics.load(words, WANTED) !== 0);
    // The writer may wait for this reader's turn.
    Atomics.notify(words, state);
  }
}

/** The lock in a thread that writes. The caller sees to it that only one at a time does. */
export class WriteSide {
  private readonly words: Int32Array;
  private readonly readers: number;

  constructor(lock: SharedArrayBuffer) {
    this.words = new Int32Array(lock);
    this.readers = this.words.length / LINE_WORDS - 1;
  }

  /** Runs `write` while nobody reads. @returns as `tryEnter` */
  tryWrite(write: () => void, naps: number): boolean {
    if (!this.tryEnter(naps)) return false;
    try {
      write();
      return true;
    } finally {
      this.leave();
    }
  }

  /**
   * Begins to write: from here on nobody reads, until `leave`.
   *
   * Readers that waited for the write before have their turn first. So none waits for longer than one write, however
   * many follow each other.
   * @param naps most sleeps of a millisecond to wait for each reader.
   * @returns false: a reader did not leave; nothing may be written. The caller must give its event loop time before it
   *   tries again: a reader that has died ends the process.
   */
  tryEnter(naps: number): boolean {
    const { words, readers } = this;
    if (readers === 0) return true;
    for (let r = 0; r < readers; r++) this.waitWhile(r, WAITING, naps);
    Atomics.store(words, WANTED, 1);
    for (let r = 0; r < readers; r++) {
      if (this.waitWhile(r, READING, naps)) continue;
      this.leave();
      return false;
    }
    return true;
  }

  leave(): void {
    if (this.readers === 0) return;
    Atomics.store(this.words, WANTED, 0);
    Atomics.notify(this.words, WANTED);
  }

  /** @returns false: the reader was in that state all the time. */
  private waitWhile(reader: number, state: number, naps: number): boolean {
    const at = stateOf(reader);
    let left = naps;
    while (Atomics.load(this.words, at) === state) {
      if (left === 0) return false;
      if (sleepWhile(this.words, at, state) === 'timed-out') left--;
    }
    return true;
  }
}

/** Waits until a word has another value, for about a millisecond at most. */
function sleepWhile(
  words: Int32Array,
  at: number,
  value: number,
): 'ok' | 'not-equal' | 'timed-out' {
  for (let spin = 0; spin < SPINS; spin++) {
    if (Atomics.load(words, at) !== value) return 'not-equal';
  }
  return Atomics.wait(words, at, value, NAP_MS);
}
