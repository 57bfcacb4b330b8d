import { CatalogueError } from '../catalogue-error.js';
import {
  EMPTY,
  HEADER_BYTES,
  readHeader,
  type Sections,
  sectionsOf,
  SlotWriter,
} from '../image/image-format.js';
import { type ImageBytes, mergeNames, type NameCursor, StoredImage } from './stored-image.js';

/** What makes one image of another one, version 1. FORMATS.md of this library describes it byte by byte. */

/** `WEIRDEL\n` */
const DELTA_MAGIC = Uint8Array.of(0x57, 0x45, 0x49, 0x52, 0x44, 0x45, 0x4c, 0x0a);
const DELTA_VERSION = 1;
const VERSION_OFFSET = 8;
/** Where the header of the new image begins. */
const IMAGE_HEADER_OFFSET = 16;
/** Magic, version, and the header of the new image. */
const HEAD_BYTES = IMAGE_HEADER_OFFSET + HEADER_BYTES;
/** Words of a changed name: low and high half of its hash, and its set number in the new image; 0: it is gone. */
const ROW_WORDS = 3;

function deltaHead(imageHeader: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD_BYTES);
  head.set(DELTA_MAGIC);
  new DataView(head.buffer).setUint32(VERSION_OFFSET, DELTA_VERSION, true);
  head.set(imageHeader, IMAGE_HEADER_OFFSET);
  return head;
}

/** Whether it begins as a delta of this version. */
function isDeltaHead(head: Uint8Array<ArrayBuffer>): boolean {
  const { buffer, byteOffset } = head;
  const version = new DataView(buffer, byteOffset).getUint32(VERSION_OFFSET, true);
  return DELTA_MAGIC.every((byte, i) => head[i] === byte) && version === DELTA_VERSION;
}

const ROWS_AT_A_TIME = 4096;

/**
 * Builds an image of another one and the bytes of a delta, which come in pieces. It needs no memory but that of the
 * image. Whatever the delta says, it writes to the image only; the caller verifies the image by its digest.
 */
export class DeltaReader {
  /** What reads the delta: it yields what is to be filled next, and is told how many bytes were. */
  private readonly steps: Generator<Uint8Array, void, number>;
  private filling: Uint8Array;
  private filled = 0;
  private isAtRows = false;

  private readonly base: Sections;
  private readonly baseSlots: number;
  private baseSlot = 0;
  private newNumbers = new Uint32Array();

  /**
   * @param image as many zeros as the image has bytes. Both begin at a multiple of four bytes.
   * @throws CatalogueError when `base` is not an image of this format.
   */
  constructor(
    base: Uint8Array,
    private readonly image: Uint8Array,
  ) {
    this.base = sectionsOf(base, readHeader(base, base.length));
    this.baseSlots = this.base.setNumbers.length;
    this.steps = this.read();
    this.filling = this.steps.next().value as Uint8Array;
  }

  /** @throws CatalogueError when it is not a delta for an image of this size. */
  push(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + this.filling.length - this.filled);
      this.filling.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
      while (this.filled === this.filling.length) this.step();
    }
  }

  /** @throws CatalogueError when the delta has not ended. */
  finish(): void {
    if (!this.isAtRows || this.filled % (ROW_WORDS * 4) !== 0) throw unusable('it breaks off');
    this.step();
  }

  private step(): void {
    const { filled } = this;
    this.filled = 0;
    const next = this.steps.next(filled);
    if (next.done !== true) this.filling = next.value;
  }

  private *read(): Generator<Uint8Array, void, number> {
    const { image } = this;
    const head = new Uint8Array(HEAD_BYTES);
    yield head;
    if (!isDeltaHead(head)) throw unusable('it does not begin as one');
    const imageHeader = head.subarray(IMAGE_HEADER_OFFSET);
    const field = readHeader(imageHeader, image.length);
    const sections = sectionsOf(image, field);
    image.set(imageHeader);

    const differences = new Uint32Array(this.base.setPositions.length);
    yield new Uint8Array(differences.buffer);
    this.newNumbers = differences.map((difference, old) => difference + old);
    yield image.subarray(field('setPositionsOffset'), field('filterOffset'));
    yield image.subarray(field('namesOffset'));

    const slots = new SlotWriter(sections, field('homeSlots'));
    const rows = new Uint32Array(ROWS_AT_A_TIME * ROW_WORDS);
    this.isAtRows = true;
    for (let isLast = false; !isLast;) {
      const bytes = yield new Uint8Array(rows.buffer);
      isLast = bytes < rows.byteLength;
      for (let at = 0; at < bytes / 4; at += ROW_WORDS) {
        this.change(rows[at], rows[at + 1], rows[at + 2], slots);
      }
    }
    this.copyBefore(EMPTY, EMPTY, slots);
  }

  private change(low: number, high: number, setNumber: number, slots: SlotWriter): void {
    this.copyBefore(high, low, slots);
    const { hashes } = this.base;
    const at = this.baseSlot * 2;
    if (hashes[at] === high && hashes[at + 1] === low) this.baseSlot++;
    if (setNumber !== 0) slots.place(high, low, setNumber);
  }

  /** Takes over the names of the base before this one. */
  private copyBefore(high: number, low: number, slots: SlotWriter): void {
    const { baseSlots, newNumbers } = this;
    const { hashes, setNumbers } = this.base;
    for (; this.baseSlot < baseSlots; this.baseSlot++) {
      const baseHigh = hashes[this.baseSlot * 2];
      const baseLow = hashes[this.baseSlot * 2 + 1];
      // Empty slots are between names.
      if (baseHigh === EMPTY && baseLow === EMPTY) continue;
      if (baseHigh > high || (baseHigh === high && baseLow >= low)) return;
      slots.place(baseHigh, baseLow, newNumbers[setNumbers[this.baseSlot]]);
    }
  }
}

function unusable(problem: string): CatalogueError {
  return new CatalogueError(`not a usable delta of a catalogue image: ${problem}`);
}

/**
 * What makes `image` of `base`, as bytes. Both are read once, in order, and never held: memory is a few megabytes. No
 * step takes longer than some milliseconds.
 * @throws CatalogueError when one of them is not an image; what reading throws.
 */
export async function* writeDelta(
  base: ImageBytes,
  image: ImageBytes,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const [before, after] = [await StoredImage.open(base), await StoredImage.open(image)];
  yield deltaHead(after.header);
  const newNumbers = numbersIn(await after.readSets(), await before.readSets());
  yield bytesOf(newNumbers.map((number, old) => number - old));
  const { field } = after;
  yield await after.read(field('setPositionsOffset'), field('filterOffset'));
  yield await after.read(field('namesOffset'), image.sizeBytes);
  let rows: number[] = [];
  const blocks = mergeNames(before, after, (old, now) => {
    if (old !== null && now !== null && newNumbers[old.setNumber] === now.setNumber) return;
    const { low, high } = (now ?? old) as NameCursor;
    rows.push(low, high, now?.setNumber ?? 0);
  });
  for await (const _ of blocks) {
    if (rows.length > 0) yield bytesOf(Uint32Array.from(rows));
    rows = [];
  }
}

/** For each set of the base the number of the same set in the image; 0: it has none. */
export function numbersIn(image: readonly string[], base: readonly string[]): Uint32Array {
  const numbers = new Map(image.map((set, number) => [set, number]));
  // Number 0 is no set.
  return Uint32Array.from(base, (set, old) => (old === 0 ? 0 : (numbers.get(set) ?? 0)));
}

function bytesOf({ buffer }: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer);
}
