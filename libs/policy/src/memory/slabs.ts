import type { HugePages } from './huge-pages.js';
import { type ChunkPlace, Slab } from './slab.js';
import type { TakenChunk } from './taken-chunk.js';

/** Memory that was never written takes none of the machine's. malloc maps so much apart from its heap. */
const SLAB_BYTES = 64 * 2 ** 20;
/** More than the largest chunk for blocks. */
const PREPARED_BYTES = 1.5 * 2 ** 20;

/** A chunk that no space has any more. */
interface LostChunk {
  readonly slab: Slab;
  readonly place: ChunkPlace;
}

/** Chunks side by side in large buffers, in huge pages. The buffers stay; spare memory goes back to the system. */
export class Slabs {
  private readonly slabs: Slab[] = [];
  private isRefused = false;
  /** A policy that never came in force is dropped without a word. */
  private readonly lost = new FinalizationRegistry<LostChunk>(({ slab, place }) =>
    slab.give(place, 0),
  );

  constructor(private readonly hugePages: HugePages) {}

  /** Memory that waits to be used again. */
  get spareBytes(): number {
    return this.slabs.reduce((sum, slab) => sum + slab.spareBytes, 0);
  }

  /** Memory in pages that were asked to be huge. */
  get realBytes(): number {
    return this.slabs.reduce((sum, slab) => sum + slab.realBytes, 0);
  }

  /** @returns null: it is too large, or the kernel refuses huge pages. */
  take(byteLength: number): TakenChunk | null {
    for (const slab of this.slabs) {
      const taken = this.takeFrom(slab, byteLength);
      if (taken !== null) return taken;
    }
    if (byteLength > SLAB_BYTES / 2) return null;
    const slab = this.add();
    return slab && this.takeFrom(slab, byteLength);
  }

  /** See `Slab.give`. */
  give(chunk: Int32Array, keeps: number): void {
    this.lost.unregister(chunk);
    const slab = this.slabs.find(({ buffer }) => buffer === chunk.buffer);
    const others = this.spareBytes - (slab?.spareBytes ?? 0);
    slab?.give(chunk, keeps - others);
  }

  /** Gives spare memory back to the system until no more bytes than these are left. */
  trim(keeps: number): void {
    let left = this.spareBytes;
    for (const slab of this.slabs.toReversed()) {
      const others = left - slab.spareBytes;
      slab.trim(keeps - others);
      left = others + slab.spareBytes;
    }
  }

  /** Makes the memory of the next chunk real: the kernel clears a whole page, which takes a while. */
  prepare(): void {
    if (this.slabs.length === 0) return;
    if (this.slabs.some((slab) => slab.prepare(PREPARED_BYTES))) return;
    this.add()?.prepare(PREPARED_BYTES);
  }

  private takeFrom(slab: Slab, byteLength: number): TakenChunk | null {
    const taken = slab.take(byteLength);
    if (taken === null) return null;
    const { byteOffset } = taken.chunk;
    this.lost.register(taken.chunk, { slab, place: { byteOffset, byteLength } }, taken.chunk);
    return taken;
  }

  private add(): Slab | null {
    if (this.isRefused) return null;
    const buffer = new SharedArrayBuffer(SLAB_BYTES);
    const pages = this.hugePages.advise(buffer);
    if (pages === null) {
      this.isRefused = true;
      return null;
    }
    const slab = new Slab(buffer, pages, this.hugePages);
    this.slabs.push(slab);
    return slab;
  }
}
