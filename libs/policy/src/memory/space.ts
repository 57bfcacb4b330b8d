import { type ChunkMemory, PLAIN_MEMORY } from './chunk-memory.js';
import { countAsGarbage } from './heap-weight.js';

/*
 * An address names a word of an arena. Its high bits are the number of a chunk, its low bits the index of the word in
 * that chunk. It is a signed 32-bit word: from chunk 8192 on it is negative.
 */

const CHUNK_BITS = 18;
/** Words of the largest chunk for blocks: 1 MiB. A block with a chunk of its own may be longer. */
export const CHUNK_WORDS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_WORDS - 1;
/** 16 GiB. */
export const MAX_CHUNKS = 2 ** (32 - CHUNK_BITS);

export function chunkOf(address: number): number {
  return address >>> CHUNK_BITS;
}

export function wordOf(address: number): number {
  return address & CHUNK_MASK;
}

export function startOf(chunk: number): number {
  return chunk << CHUNK_BITS;
}

const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT;
const NOTHING = new Int32Array(new SharedArrayBuffer(0));

/**
 * That two policies have chunks of memory in common: one of them was made from the other. Who writes such a chunk first
 * copies it. It is over when one of the two is no longer used.
 */
export class Fork {
  isOver = false;
}

/** Nothing is in common with anyone. */
export const NO_FORK = new Fork();
NO_FORK.isOver = true;

/** A chunk by its number; null: it was dropped. */
export type ChunkChange = readonly [number: number, chunk: Int32Array | null];

export interface SpaceOptions {
  /** Most words of a chunk of blocks: a test with small chunks needs few entries. */
  readonly chunkWords?: number | undefined;
  readonly memory?: ChunkMemory | undefined;
}

/**
 * The memory of one structure: chunks of 32-bit words in shared memory. The thread that writes adds and drops chunks.
 * Every other thread has the same chunks under the same numbers: it adopts what was added.
 *
 * A space that was forked has its chunks in common with another one, and copies a chunk when it first writes it. So a
 * chunk is written through `own`, and nobody keeps one in a field.
 *
 * Memory that was never written takes none of the machine's.
 */
export class Space {
  readonly chunks: Int32Array[] = [];
  readonly chunkWords: number;
  readonly memory: ChunkMemory;
  private freeNumbers: number[] = [];
  /** What this space has in common with another one. */
  fork = NO_FORK;
  /** By number: whether the other space of the fork has the chunk as well. */
  private common: boolean[] = [];

  constructor({ chunkWords = CHUNK_WORDS, memory = PLAIN_MEMORY }: SpaceOptions = {}) {
    this.chunkWords = chunkWords;
    this.memory = memory;
  }

  get nextNumber(): number {
    return this.freeNumbers.at(-1) ?? this.chunks.length;
  }

  /** Adds a chunk of zeros. */
  add(words: number): Int32Array {
    const number = this.nextNumber;
    this.freeNumbers.pop();
    const { chunk, isNew } = this.memory.take(words * WORD_BYTES);
    this.put(number, chunk);
    return isNew ? chunk : chunk.fill(0);
  }

  drop(number: number): void {
    if (!this.isCommon(number)) this.memory.give(this.chunks[number]);
    this.put(number, null);
    this.freeNumbers.push(number);
  }

  /** A chunk, to be written. Another array than before if it was in common. */
  own(number: number): Int32Array {
    if (this.isCommon(number)) this.copy(number);
    return this.chunks[number];
  }

  /** A space with the same chunks. From now on either copies what it writes, until the fork is over. */
  forkFor(fork: Fork): Space {
    const other = new Space(this);
    for (const chunk of this.chunks) other.chunks.push(chunk);
    other.freeNumbers = [...this.freeNumbers];
    this.shareAll(fork);
    other.shareAll(fork);
    return other;
  }

  /** Gives away all chunks that the other space does not have. This one must not be used any more. */
  giveAwayFor(other: Space): void {
    for (const [number, chunk] of this.chunks.entries()) {
      if (chunk === NOTHING || chunk === other.chunks[number]) continue;
      this.memory.give(chunk);
    }
    this.chunks.length = 0;
  }

  /**
   * Takes over chunks of the thread that writes. That thread uses the memory of a replaced chunk again, so it is not
   * counted here: a collection would hold up the queries of this thread.
   */
  adopt(changes: readonly ChunkChange[]): void {
    for (const [number, chunk] of changes) {
      if (chunk === null) countAsGarbage((this.chunks[number] ?? NOTHING).byteLength);
      this.put(number, chunk);
    }
  }

  /** What must be adopted where the chunks are those of `known`, an earlier copy of `chunks`. */
  changesSince(known: readonly Int32Array[]): ChunkChange[] {
    const changes: ChunkChange[] = [];
    for (let number = 0; number < this.chunks.length; number++) {
      const chunk = this.chunks[number];
      if (chunk === known[number]) continue;
      changes.push([number, chunk === NOTHING ? null : chunk]);
    }
    return changes;
  }

  private isCommon(number: number): boolean {
    return !this.fork.isOver && this.common[number];
  }

  private shareAll(fork: Fork): void {
    this.fork = fork;
    this.common = this.chunks.map(() => true);
  }

  private copy(number: number): void {
    const chunk = this.chunks[number];
    const copy = this.memory.take(chunk.byteLength).chunk;
    copy.set(chunk);
    this.put(number, copy);
  }

  private put(number: number, chunk: Int32Array | null): void {
    this.chunks[number] = chunk ?? NOTHING;
    this.common[number] = false;
  }
}
