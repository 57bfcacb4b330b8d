import { deltaHead, ROW_WORDS } from './delta-reader.js';
import { mergeNames } from './merge-names.js';
import { BLOCK_SLOTS, type ImageBytes, type NameCursor, StoredImage } from './stored-image.js';

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
  const rows = new Rows();
  const blocks = mergeNames(before, after, (old, now) => {
    if (now === null) rows.add(old as NameCursor, 0);
    else if (old === null || newNumbers[old.setNumber] !== now.setNumber) {
      rows.add(now, now.setNumber);
    }
  });
  for await (const _ of blocks) if (rows.isAny) yield rows.take();
}

/** For each set of the base the number of the same set in the image; 0: it has none. */
export function numbersIn(image: readonly string[], base: readonly string[]): Uint32Array {
  const numbers = new Map(image.map((set, number) => [set, number]));
  // Number 0 is no set.
  return Uint32Array.from(base, (set, old) => (old === 0 ? 0 : (numbers.get(set) ?? 0)));
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
