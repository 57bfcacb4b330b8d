/**
 * The binary image, version 1. The README of this library describes it byte by byte. All integers are little-endian.
 */

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
export interface GroupSummary {
  readonly id: number;
  readonly name: string;
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
