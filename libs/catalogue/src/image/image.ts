import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import {
  type CatalogueIndex,
  type CategoryInfo,
  type CategoryRewrite,
  countAsHeap,
} from '@weir/policy';
import { crc32 } from 'node:zlib';
import { keyCheck } from '../names/name-list.js';
import {
  CHECKED_FROM,
  filterBits,
  filterWord,
  type GroupSummary,
  type HeaderField,
  homeSlot,
  type Names,
  type NameRewrite,
  check,
  readHeader,
  sectionsOf,
  TWO_TO_32,
} from './image-format.js';

const NONE: readonly CategoryRewrite[] = [];

/** The rewrites of an image, by name. @param rewrites ascending by category */
function tableOf(
  rewrites: readonly NameRewrite[],
  key: HashKey,
): SuffixTable<CategoryRewrite[]> | null {
  if (rewrites.length === 0) return null;
  const hashes = new SuffixHashes(key);
  const count = rewrites.reduce((sum, { names }) => sum + names.length, 0);
  const table = new SuffixTable<CategoryRewrite[]>(count);
  for (const { categoryId, to, names } of rewrites) {
    const rewrite = { categoryId, target: toWireName(to) };
    for (const name of names) {
      const last = hashes.compute(toWireName(name), 0) - 1;
      const known = table.get(hashes, last);
      if (known === undefined) table.set(hashes, last, [rewrite]);
      else known.push(rewrite);
    }
  }
  return table;
}

/** A mask has a bit for each of the first 31 suffixes, and one for all others. */
const LAST_BIT = 31;

/** A compiled catalogue, used in place. The caller must not change the image afterwards. */
export class CatalogueImage implements CatalogueIndex {
  readonly memberships: Int32Array;
  /** The image, if it is in shared memory: another thread can open it without a copy. */
  readonly shareable: Uint8Array | undefined;
  /** Ascending by id. */
  readonly categories: readonly GroupSummary[];
  readonly mandatoryIds: readonly number[];
  /** Ascending by id. */
  readonly applications: readonly GroupSummary[];
  /** Distinct names listed. */
  readonly domainCount: number;
  private readonly scale: number;
  private readonly filterScale: number;
  private readonly hashes: Uint32Array;
  private readonly setNumbers: Uint16Array | Uint32Array;
  private readonly setPositions: Uint32Array;
  private readonly filter: Int32Array;
  private readonly rewrites: SuffixTable<CategoryRewrite[]> | null;
  /** Keeps what was prefetched, so that the compiler does not remove the reads. */
  protected sink = 0;

  private constructor(bytes: Uint8Array, field: HeaderField, key: HashKey) {
    const sections = sectionsOf(bytes, field);
    // A copy, as TextDecoder does not read shared memory.
    const names = JSON.parse(new TextDecoder().decode(sections.names.slice())) as Names;
    this.memberships = sections.memberships;
    this.shareable = bytes.buffer instanceof SharedArrayBuffer ? bytes : undefined;
    this.categories = names.categories;
    // One without names costs no query anything.
    const mandatory = names.categories.filter((one) => one.mandatory === true && one.domains > 0);
    this.mandatoryIds = mandatory.map(({ id }) => id);
    this.applications = names.applications;
    this.domainCount = field('domainCount');
    this.scale = field('homeSlots') / TWO_TO_32;
    this.filterScale = sections.filter.length / TWO_TO_32;
    this.hashes = sections.hashes;
    this.setNumbers = sections.setNumbers;
    this.setPositions = sections.setPositions;
    this.filter = sections.filter;
    this.rewrites = tableOf(names.rewrites, key);
  }

  /**
   * Opens an image; its bytes may be shared between threads.
   * @param checksumVerified in this process: it is skipped, about 0.1 s for 100 MB. The rest is verified.
   * @throws CatalogueError when it is not a valid image of this format, or was compiled under another key.
   */
  static open(image: Uint8Array, key: HashKey, { checksumVerified = false } = {}): CatalogueImage {
    const bytes = image.byteOffset % 4 === 0 ? image : image.slice();
    if (bytes.buffer instanceof SharedArrayBuffer) countAsHeap(bytes.buffer);
    const field = readHeader(bytes, bytes.length);
    if (!checksumVerified) {
      check(crc32(bytes.subarray(CHECKED_FROM)) === field('checksum'), 'its checksum is wrong');
    }
    check(field('keyCheck') === keyCheck(key), 'it was compiled under another DOMAIN_HASH_KEY');
    return new CatalogueImage(bytes, field, key);
  }

  candidateMask({ count, high, low }: SuffixHashes): number {
    const { filter, filterScale } = this;
    let mask = count > LAST_BIT ? 1 << LAST_BIT : 0;
    const end = Math.min(count, LAST_BIT);
    for (let i = 0; i < end; i++) {
      const bits = filterBits(high[i]);
      // Without a branch, so that all words are read at the same time.
      const missing = bits & ~filter[filterWord(low[i], filterScale)];
      mask |= (((missing | -missing) >>> 31) ^ 1) << i;
    }
    if (mask !== 0) this.prefetch(high, mask);
    return mask;
  }

  /** Prefetches what `find` will need for the suffixes of a mask. */
  private prefetch(high: Uint32Array, mask: number): void {
    let read = 0;
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const slot = homeSlot(high[31 - Math.clz32(rest & -rest)], this.scale);
      read ^= this.hashes[slot * 2] ^ this.setNumbers[slot];
    }
    this.sink = read;
  }

  rewritesOf(names: SuffixHashes): readonly CategoryRewrite[] {
    if (this.rewrites === null || names.count === 0) return NONE;
    return this.rewrites.get(names, names.count - 1) ?? NONE;
  }

  category(id: number): CategoryInfo | undefined {
    return this.categories.find((category) => category.id === id);
  }

  applicationName(id: number): string | undefined {
    return this.applications.find((application) => application.id === id)?.name;
  }

  /** Slots are ascending by hash: a search ends at the first that is not below. Empty slots have the highest hash. */
  find(names: SuffixHashes, suffix: number): number {
    const { hashes } = this;
    const high = names.high[suffix];
    const low = names.low[suffix];
    let at = homeSlot(high, this.scale) * 2;
    while (hashes[at] < high) at += 2;
    while (hashes[at] === high) {
      if (hashes[at + 1] === low) return this.setPositions[this.setNumbers[at >>> 1]];
      at += 2;
    }
    return 0;
  }
}
