import { CatalogueError } from '../catalogue-error.js';
import {
  HEADER_BYTES,
  EMPTY,
  type HeaderField,
  type Names,
  readHeader,
} from '../image/image-format.js';

/** The bytes of an image that may be too large to hold. */
export interface ImageBytes {
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** An image of which only parts are in memory. */
export class StoredImage {
  private constructor(
    private readonly bytes: ImageBytes,
    readonly header: Uint8Array,
    readonly field: HeaderField,
  ) {}

  /** @throws CatalogueError when it is not an image of this format. */
  static async open(bytes: ImageBytes): Promise<StoredImage> {
    const header = await readBytes(bytes, 0, Math.min(HEADER_BYTES, bytes.sizeBytes));
    return new StoredImage(bytes, header, readHeader(header, bytes.sizeBytes));
  }

  /** @throws CatalogueError when it ends before. */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    return readBytes(this.bytes, start, end);
  }

  async readWords(start: number, count: number): Promise<Uint32Array<ArrayBuffer>> {
    return new Uint32Array((await this.read(start, start + count * 4)).buffer);
  }

  /** Set numbers of this many slots. */
  async readSetNumbers(slot: number, count: number): Promise<Uint16Array | Uint32Array> {
    const bytesEach = this.field('setNumberBytes');
    const start = this.field('setNumbersOffset') + slot * bytesEach;
    const { buffer } = await this.read(start, start + count * bytesEach);
    return bytesEach === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
  }

  /** Its categories and applications. */
  async readGroups(): Promise<Names> {
    const start = this.field('namesOffset');
    const bytes = await this.read(start, start + this.field('namesBytes'));
    return JSON.parse(new TextDecoder().decode(bytes)) as Names;
  }

  /** Each membership set as text, by its number: see `memberships` of the format. */
  async readSets(): Promise<readonly string[]> {
    const { field } = this;
    const positions = await this.readWords(field('setPositionsOffset'), field('setCount'));
    const words = await this.readWords(field('membershipsOffset'), field('membershipsWords'));
    return Array.from(positions, (at) => {
      return words.subarray(at, at + 2 + words[at] + words[at + 1]).join();
    });
  }
}

async function readBytes(
  source: ImageBytes,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(end - start);
  let length = 0;
  if (end > start) {
    for await (const piece of source.read(start, end)) {
      bytes.set(piece, length);
      length += piece.length;
    }
  }
  if (length < bytes.length) throw new CatalogueError('a stored catalogue image is too short');
  return bytes;
}

/** Slots that are read at a time: 1 MiB of hashes, and 256 KiB of set numbers. */
export const BLOCK_SLOTS = 128 * 1024;

/** Goes through the names of a stored image, ascending by hash. A block of slots is in memory. */
export class NameCursor {
  /** The current name, after `seek` has returned true. */
  high = 0;
  low = 0;
  setNumber = 0;
  private hashes = new Uint32Array();
  private setNumbers: Uint16Array | Uint32Array = new Uint16Array();
  /** Within the block. */
  private slot = 0;
  private nextBlock = 0;

  constructor(private readonly image: StoredImage) {}

  /** Whether the block is the last one. */
  get isLastBlock(): boolean {
    return this.nextBlock >= this.image.field('slotCount');
  }

  /** Reads the next block. The one before must have ended. */
  async loadBlock(): Promise<void> {
    const { image, nextBlock } = this;
    const count = Math.min(BLOCK_SLOTS, image.field('slotCount') - nextBlock);
    this.hashes = await image.readWords(image.field('hashesOffset') + nextBlock * 8, count * 2);
    this.setNumbers = await image.readSetNumbers(nextBlock, count);
    this.nextBlock += count;
    this.slot = 0;
  }

  /** Finds the current name. @returns false at the end of the block. */
  seek(): boolean {
    const { hashes, setNumbers } = this;
    for (; this.slot < setNumbers.length; this.slot++) {
      this.low = hashes[this.slot * 2 + 1];
      this.high = hashes[this.slot * 2];
      if (this.high === EMPTY && this.low === EMPTY) continue;
      this.setNumber = setNumbers[this.slot];
      return true;
    }
    return false;
  }

  /** Leaves the current name. */
  advance(): void {
    this.slot++;
  }
}

/** A name of the base, of the image, or of both. The cursors are at that name during the call. */
type VisitPair = (base: NameCursor | null, image: NameCursor | null) => void;

/** Goes through the names of two images side by side, ascending by hash. Yields after each block of slots. */
export async function* mergeNames(
  before: StoredImage,
  after: StoredImage,
  visit: VisitPair,
): AsyncGenerator<void> {
  const [base, image] = [new NameCursor(before), new NameCursor(after)];
  for (;;) {
    for (const names of [base, image]) {
      if (!names.seek() && !names.isLastBlock) await names.loadBlock();
    }
    mergeBlocks(base, image, visit);
    yield;
    const isEnd = [base, image].every((names) => !names.seek() && names.isLastBlock);
    if (isEnd) return;
  }
}

/** Until a block ends that is not the last one, or both images have ended. */
function mergeBlocks(base: NameCursor, image: NameCursor, visit: VisitPair): void {
  for (;;) {
    const isInBase = base.seek();
    const isInImage = image.seek();
    if (!isInBase && (!base.isLastBlock || !isInImage)) return;
    if (!isInImage && !image.isLastBlock) return;
    const order = !isInBase ? 1 : !isInImage ? -1 : compare(base, image);
    visit(order <= 0 ? base : null, order >= 0 ? image : null);
    if (order <= 0) base.advance();
    if (order >= 0) image.advance();
  }
}

function compare(one: NameCursor, other: NameCursor): number {
  return one.high - other.high || one.low - other.low;
}
