import type { CategoryInfo } from '@weir/policy';
import { CatalogueError } from '../catalogue-error.js';

/** The binary image, version 1, little-endian. FORMATS.md of this library describes it byte by byte. */

/** `WEIRCAT\n` */
export const MAGIC = Uint8Array.of(0x57, 0x45, 0x49, 0x52, 0x43, 0x41, 0x54, 0x0a);
export const FORMAT_VERSION = 1;
export const HEADER_BYTES = 96;

/** Offsets of the header's unsigned 32-bit fields. */
export const Header = {
  version: 8,
  /** CRC-32 (IEEE 802.3) of everything from byte 16 to the end. */
  checksum: 12,
  totalBytes: 16,
  keyCheck: 20,
  domainCount: 24,
  /** The home slot of a hash is its high 32 bits × homeSlots / 2³², rounded down. */
  homeSlots: 28,
  /** All slots: home slots, slots behind the last of them, and one empty slot that ends every search. */
  slotCount: 32,
  /** Bytes of a slot's set number: 2 or 4. */
  setNumberBytes: 36,
  setCount: 40,
  hashesOffset: 44,
  setNumbersOffset: 48,
  setPositionsOffset: 52,
  membershipsOffset: 56,
  membershipsWords: 60,
  namesOffset: 64,
  namesBytes: 68,
  filterOffset: 72,
  filterWords: 76,
} as const;

export const CHECKED_FROM = 16;

/** Load factor of the home slots: 10 bytes a slot ÷ 0.94 = 10.6 bytes a domain. A search reads about 9 slots. */
export const LOAD = 0.94;

/** Bits of the filter for each domain, three of which are set. One name in thirty that is not listed passes. */
export const FILTER_BITS = 10;

export const TWO_TO_32 = 4_294_967_296;

/** Half of an empty slot's hash. No listed name may hash to the two together. */
export const EMPTY = 0xffff_ffff;

/** Most set numbers that fit two bytes; number 0 is no set. */
export const MAX_SHORT_SET_NUMBER = 0xffff;

/** The home slot of a hash. It ascends with `high`, which keeps the slots sorted. `scale` is homeSlots / 2³². */
export function homeSlot(high: number, scale: number): number {
  return Math.floor(high * scale);
}

/** The filter's word for a hash; `scale` is filterWords / 2³². */
export function filterWord(low: number, scale: number): number {
  return Math.floor(low * scale);
}

/** The three filter bits of a hash, from the low 15 bits of its high half. The low half selects the word. */
export function filterBits(high: number): number {
  return (1 << (high & 31)) | (1 << ((high >>> 5) & 31)) | (1 << ((high >>> 10) & 31));
}

/** A category or an application as the image describes it. */
export interface GroupSummary extends CategoryInfo {
  readonly id: number;
  /** Distinct domains that it lists. */
  readonly domains: number;
}

/** Names that a category sends to another name, while a profile blocks it. */
export interface NameRewrite {
  readonly categoryId: number;
  readonly to: string;
  readonly names: readonly string[];
}

/** The names section: UTF-8 JSON. */
export interface Names {
  readonly categories: readonly GroupSummary[];
  readonly applications: readonly GroupSummary[];
  /** Ascending by category. */
  readonly rewrites: readonly NameRewrite[];
}

/** The value of a field of a header. */
export type HeaderField = (name: keyof typeof Header) => number;

/** The sections of an image, in place. */
export interface Sections {
  readonly hashes: Uint32Array;
  readonly setNumbers: Uint16Array | Uint32Array;
  readonly setPositions: Uint32Array;
  readonly memberships: Int32Array;
  readonly filter: Int32Array;
  readonly names: Uint8Array;
}

/**
 * Reads the header of an image of this many bytes.
 * @throws CatalogueError when it is not the header of an image of this format and size.
 */
export function readHeader(bytes: Uint8Array, imageBytes: number): HeaderField {
  check(bytes.length >= HEADER_BYTES, 'it is shorter than its header');
  check(
    MAGIC.every((byte, i) => bytes[i] === byte),
    'it does not begin as one',
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const field: HeaderField = (name) => view.getUint32(Header[name], true);
  check(field('version') === FORMAT_VERSION, `its format version is ${field('version')}`);
  check(field('totalBytes') === imageBytes, 'it is not as long as it says');
  const setNumberBytes = field('setNumberBytes');
  check(setNumberBytes === 2 || setNumberBytes === 4, 'its set numbers have an unknown size');
  const homeSlots = field('homeSlots');
  check(field('slotCount') > homeSlots && homeSlots > 0, 'its table is too small');
  return field;
}

/** The sections of an image that begins at a multiple of four bytes. @throws CatalogueError when one lies outside. */
export function sectionsOf(image: Uint8Array, field: HeaderField): Sections {
  const section = (offset: number, count: number, bytesEach: number): Uint8Array => {
    const end = offset + count * bytesEach;
    const isInside = offset >= HEADER_BYTES && offset % bytesEach === 0 && end <= image.length;
    check(isInside, 'a section lies outside of it');
    return image.subarray(offset, end);
  };
  const words = (offset: number, count: number): Uint32Array => {
    const { buffer, byteOffset } = section(offset, count, 4);
    return new Uint32Array(buffer, byteOffset, count);
  };
  const slotCount = field('slotCount');
  const setNumberBytes = field('setNumberBytes');
  const setNumbers = section(field('setNumbersOffset'), slotCount, setNumberBytes);
  const filter = words(field('filterOffset'), field('filterWords'));
  check(filter.length > 0, 'it has no filter');
  const memberships = words(field('membershipsOffset'), field('membershipsWords'));
  return {
    hashes: words(field('hashesOffset'), slotCount * 2),
    setNumbers:
      setNumberBytes === 2
        ? new Uint16Array(setNumbers.buffer, setNumbers.byteOffset, slotCount)
        : new Uint32Array(setNumbers.buffer, setNumbers.byteOffset, slotCount),
    setPositions: words(field('setPositionsOffset'), field('setCount')),
    memberships: new Int32Array(memberships.buffer, memberships.byteOffset, memberships.length),
    filter: new Int32Array(filter.buffer, filter.byteOffset, filter.length),
    names: section(field('namesOffset'), field('namesBytes'), 1),
  };
}

export function check(isValid: boolean, problem: string): void {
  if (!isValid) throw new CatalogueError(`not a usable catalogue image: ${problem}`);
}

/** Places names in the slots of an image, and in its filter, which must be zero. */
export class SlotWriter {
  private next = 0;
  private readonly scale: number;
  private readonly filterScale: number;
  private readonly hashes: Uint32Array;
  private readonly setNumbers: Uint16Array | Uint32Array;
  private readonly filter: Int32Array;

  constructor(
    { hashes, setNumbers, filter }: Pick<Sections, 'hashes' | 'setNumbers' | 'filter'>,
    homeSlots: number,
  ) {
    this.hashes = hashes.fill(EMPTY);
    this.setNumbers = setNumbers;
    this.filter = filter;
    this.scale = homeSlots / TWO_TO_32;
    this.filterScale = filter.length / TWO_TO_32;
  }

  /** Places the next name: ascending by hash, each once. */
  place(high: number, low: number, setNumber: number): void {
    const { hashes, setNumbers, filter } = this;
    const slot = Math.max(homeSlot(high, this.scale), this.next);
    hashes[slot * 2] = high;
    hashes[slot * 2 + 1] = low;
    setNumbers[slot] = setNumber;
    filter[filterWord(low, this.filterScale)] |= filterBits(high);
    this.next = slot + 1;
  }
}
