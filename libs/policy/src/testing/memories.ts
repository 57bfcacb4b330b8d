import { ChunkMemory } from '../memory/chunk-memory.js';
import { HUGE_PAGE_BYTES, type HugePages, type PageRange } from '../memory/huge-pages.js';

/** Huge pages without a kernel: what is given back to the system is 0. */
export class PagesOfNoKernel implements HugePages {
  readonly released: PageRange[] = [];

  advise({ byteLength }: SharedArrayBuffer): PageRange {
    return { start: 64, end: 64 + Math.floor(byteLength / HUGE_PAGE_BYTES - 1) * HUGE_PAGE_BYTES };
  }

  release(buffer: SharedArrayBuffer, pages: PageRange): void {
    new Uint8Array(buffer, pages.start, pages.end - pages.start).fill(0);
    this.released.push(pages);
  }
}

/** Each way in which a policy has memory, with as many chunks in slabs as can be. */
export const MEMORIES: readonly (readonly [name: string, create: () => ChunkMemory])[] = [
  ['a buffer for each chunk', () => new ChunkMemory()],
  ['slabs', () => new ChunkMemory(new PagesOfNoKernel(), 0)],
];
