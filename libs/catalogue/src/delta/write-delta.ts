import { deltaHead, ROW_WORDS } from './delta-reader.js';
import { BLOCK_SLOTS, NameCursor, type ImageBytes, StoredImage } from './stored-image.js';

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
  const newNumbers = numbersInImage(await before.readSets(), await after.readSets());
  yield bytesOf(newNumbers.map((number, old) => number - old));
  const { field } = after;
  yield await after.read(field('setPositionsOffset'), field('filterOffset'));
  yield await after.read(field('namesOffset'), image.sizeBytes);
  yield* writeChanges(new NameCursor(before), new NameCursor(after), newNumbers);
}

/** For each set of the base the number of the same set in the image; 0: it has none. */
function numbersInImage(base: readonly string[], image: readonly string[]): Uint32Array {
  const numbers = new Map(image.map((set, number) => [set, number]));
  // Number 0 is no set.
  return Uint32Array.from(base, (set, old) => (old === 0 ? 0 : (numbers.get(set) ?? 0)));
}

async function* writeChanges(
  base: NameCursor,
  image: NameCursor,
  newNumbers: Uint32Array,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const rows = new Rows();
  for (;;) {
    for (const names of [base, image]) {
      if (!names.seek() && !names.isLastBlock) await names.loadBlock();
    }
    compareBlocks(base, image, newNumbers, rows);
    if (rows.isAny) yield rows.take();
    const isEnd = [base, image].every((names) => !names.seek() && names.isLastBlock);
    if (isEnd) return;
  }
}

/** Until a block ends that is not the last one, or both images have ended. */
function compareBlocks(
  base: NameCursor,
  image: NameCursor,
  newNumbers: Uint32Array,
  rows: Rows,
): void {
  for (;;) {
    const isInBase = base.seek();
    const isInImage = image.seek();
    if (!isInBase && (!base.isLastBlock || !isInImage)) return;
    if (!isInImage && !image.isLastBlock) return;
    const order = !isInBase ? 1 : !isInImage ? -1 : compare(base, image);
    if (order < 0) rows.add(base, 0);
    else if (order > 0 || newNumbers[base.setNumber] !== image.setNumber) {
      rows.add(image, image.setNumber);
    }
    if (order <= 0) base.advance();
    if (order >= 0) image.advance();
  }
}

function compare(one: NameCursor, other: NameCursor): number {
  return one.high - other.high || one.low - other.low;
}

/** Changed names. As many fit as two blocks have. */
class Rows {
  private readonly words = new Uint32Array(2 * BLOCK_SLOTS * ROW_WORDS);
  private used = 0;

  get isAny(): boolean {
    return this.used > 0;
  }

  add({ low, high }: NameCursor, setNumber: number): void {
    this.words[this.used++] = low;
    this.words[this.used++] = high;
    this.words[this.used++] = setNumber;
  }

  take(): Uint8Array<ArrayBuffer> {
    const taken = bytesOf(this.words.slice(0, this.used));
    this.used = 0;
    return taken;
  }
}

function bytesOf({ buffer }: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer);
}
