import { chunkOf, type Space, wordOf } from '../memory/space.js';
import { heapLength, matchesPrefix, nibbleAt, popCount } from './prefix-bits.js';
import { KEY, LEAF_SHIFT, LINKS, META, RESULTS } from './prefix-node.js';

/** For each nibble the heap indices of all prefixes in a node that match an address with that nibble, as bits. */
const ON_THE_WAY = Int32Array.from(
  { length: 16 },
  (_, n) =>
    (1 << 1) |
    (1 << (2 | (n >> 3))) |
    (1 << (4 | (n >> 2))) |
    (1 << (8 | (n >> 1))) |
    (1 << (16 | n)),
);
/** The chunk with the address of the root by the first `rootBits` bits; 0: there is none. */
export const ROOTS = 0;
const LINE = 16;

/** Searches a `PrefixTree`, in any thread. */
export class PrefixLookup {
  /** The length of the prefix that the last `find` found. Undefined if it found none. */
  matchedLength = 0;
  private readonly chunks: readonly Int32Array[];
  protected sink = 0;
  private readonly resultsAt: number;
  private readonly leafWords: number;

  /** @param space of the tree, which has the same words of a key and bits of roots. */
  constructor(
    space: Space,
    private readonly keyWords: 1 | 2 | 4,
    private readonly rootBits = 0,
  ) {
    this.chunks = space.chunks;
    this.resultsAt = KEY + keyWords;
    this.leafWords = keyWords + 2;
  }

  /** The value of the longest prefix that holds the address; −1: none. Allocates nothing. */
  find(words: Uint32Array): number {
    const { chunks, resultsAt } = this;
    let best = -1;
    let node = chunks[ROOTS][rootOf(words, this.rootBits)];
    let read = 0;
    while (node !== 0) {
      const chunk = chunks[chunkOf(node)];
      const at = wordOf(node);
      // Prefetch: reads all of the node at the same time, before it is known which words are needed.
      read ^= chunk[at + LINE] ^ chunk[at + 2 * LINE];
      const meta = chunk[at + META];
      const position = meta & 0xff;
      if (!matchesPrefix(chunk, at + KEY, words, position)) break;
      const nibble = nibbleAt(words[position >>> 5] | 0, position);
      const results = chunk[at + RESULTS];
      const hits = results & ON_THE_WAY[nibble];
      if (hits !== 0) {
        const longest = 31 - Math.clz32(hits);
        best = chunk[at + resultsAt + popCount(results & ((1 << longest) - 1))];
        this.matchedLength = position + heapLength(longest);
      }
      const links = chunk[at + LINKS];
      const below = (1 << nibble) - 1;
      const childrenAt = at + resultsAt + ((meta >>> 8) & 0xff);
      if ((links & (1 << nibble)) !== 0) {
        node = chunk[childrenAt + popCount(links & below)];
        continue;
      }
      const leaves = links >>> LEAF_SHIFT;
      if ((leaves & (1 << nibble)) === 0) break;
      const leaf = childrenAt + (meta >>> 16) + popCount(leaves & below) * this.leafWords;
      const length = chunk[leaf + this.keyWords];
      if (matchesPrefix(chunk, leaf, words, length)) {
        best = chunk[leaf + this.keyWords + 1];
        this.matchedLength = length;
      }
      break;
    }
    // Kept, so that the compiler does not remove the reads.
    this.sink = read;
    return best;
  }
}

export function rootOf(words: Uint32Array, rootBits: number): number {
  return rootBits === 0 ? 0 : words[0] >>> (32 - rootBits);
}
