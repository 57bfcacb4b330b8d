import { NameCursor, type StoredImage } from './stored-image.js';

/** A name of the base, of the image, or of both. The cursors are at that name during the call. */
export type VisitPair = (base: NameCursor | null, image: NameCursor | null) => void;

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
