import { FreeRanges, type Range } from './free-ranges.js';
import { HUGE_PAGE_BYTES, type HugePages, type PageRange } from './huge-pages.js';
import type { TakenChunk } from './taken-chunk.js';

/** Takes memory of the machine: it was written, or is about to be. */
const REAL = 1;
/** Has words of a chunk that was given back. */
const DIRTY = 2;

const pageOf = (offset: number): number => Math.floor(offset / HUGE_PAGE_BYTES);
const pageBehind = (offset: number): number => Math.ceil(offset / HUGE_PAGE_BYTES);

/** Chunks begin at a cache line. */
const LINE_BYTES = 64;
const roomOf = (bytes: number): number => Math.ceil(bytes / LINE_BYTES) * LINE_BYTES;

/** Where a chunk is in its buffer. */
export type ChunkPlace = Pick<Int32Array, 'byteOffset' | 'byteLength'>;

/** A buffer of which chunks are parts. All of it is in huge pages, if the kernel has them. */
export class Slab {
  private readonly free: FreeRanges;
  /** Of each huge page. */
  private readonly states: Uint8Array;
  private sparePages = 0;

  /** @param pages of the buffer. */
  constructor(
    readonly buffer: SharedArrayBuffer,
    private readonly pages: PageRange,
    private readonly hugePages: HugePages,
  ) {
    const bytes = pages.end - pages.start;
    this.free = new FreeRanges({ start: 0, end: bytes });
    this.states = new Uint8Array(bytes / HUGE_PAGE_BYTES);
  }

  /** Pages without a chunk that take memory of the machine. */
  get spareBytes(): number {
    return this.sparePages * HUGE_PAGE_BYTES;
  }

  /** Pages that take memory of the machine. */
  get realBytes(): number {
    return this.states.filter((state) => state !== 0).length * HUGE_PAGE_BYTES;
  }

  /** @returns null: there is no room. */
  take(byteLength: number): TakenChunk | null {
    const bytes = roomOf(byteLength);
    const room = this.free.find(bytes);
    if (room === undefined) return null;
    const taken = { start: room.start, end: room.start + bytes };
    this.free.cut(room, bytes);
    let isNew = true;
    for (let page = pageOf(taken.start); page < pageBehind(taken.end); page++) {
      if (this.isSpare(page, room)) this.sparePages--;
      if ((this.states[page] & DIRTY) !== 0) isNew = false;
      this.states[page] |= REAL;
    }
    return { chunk: this.wordsAt(taken.start, byteLength), isNew };
  }

  /**
   * Nobody reads or writes the chunk any more.
   * @param keeps if more spare bytes than these are real, its memory goes back to the system.
   */
  give({ byteOffset, byteLength }: ChunkPlace, keeps: number): void {
    const start = byteOffset - this.pages.start;
    const end = start + roomOf(byteLength);
    const room = this.free.add({ start, end });
    for (let page = pageOf(start); page < pageBehind(end); page++) {
      this.states[page] |= DIRTY;
      if (this.isSpare(page, room)) this.sparePages++;
    }
    if (this.spareBytes > keeps) this.releaseIn(room, keeps);
  }

  /** Gives spare pages back to the system until no more bytes than these are left. */
  trim(keeps: number): void {
    for (const room of this.free.all) this.releaseIn(room, keeps);
  }

  /** Makes the memory real that the next chunks of so many bytes take. @returns false: there is no room. */
  prepare(bytes: number): boolean {
    const room = this.free.find(bytes);
    if (room === undefined) return false;
    for (let page = pageOf(room.start); page < pageBehind(room.start + bytes); page++) {
      if (this.states[page] !== 0) continue;
      // It is 0. To write it is what makes it real.
      this.wordsAt(page * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES)[0] = 0;
      this.states[page] = REAL;
      if (this.isSpare(page, room)) this.sparePages++;
    }
    return true;
  }

  private releaseIn(room: Range, keeps: number): void {
    const last = pageOf(room.end);
    for (let page = pageBehind(room.start); page < last && this.spareBytes > keeps; page++) {
      if (!this.isSpare(page, room)) continue;
      const start = this.pages.start + page * HUGE_PAGE_BYTES;
      this.hugePages.release(this.buffer, { start, end: start + HUGE_PAGE_BYTES });
      this.states[page] = 0;
      this.sparePages--;
    }
  }

  /** Whether the page is in a free range as a whole, and takes memory. */
  private isSpare(page: number, room: Range): boolean {
    const start = page * HUGE_PAGE_BYTES;
    return this.states[page] !== 0 && start >= room.start && start + HUGE_PAGE_BYTES <= room.end;
  }

  private wordsAt(start: number, bytes: number): Int32Array {
    return new Int32Array(this.buffer, this.pages.start + start, bytes / 4);
  }
}
