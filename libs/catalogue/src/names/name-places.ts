/** What is needed here of a `NameList`. */
interface Names {
  readonly words: Uint32Array;
  readonly count: number;
}

/**
 * Where a list has each of its names, and since when, in its order. Two words a name: the line with the bits of
 * `ZoneBit`, and when the list was first read with it, in seconds since 1970.
 */
export type NamePlaces = Uint32Array<ArrayBuffer>;

/**
 * Bits beside the line of a name of a zone: which records list it. With them, changes of the zone can be applied
 * (RFC 1995), since an owner has at most one CNAME record.
 */
export const ZoneBit = {
  /** That of the name itself. */
  name: 0x8000_0000,
  /** That of the names below it: `*.name`. */
  wildcard: 0x4000_0000,
  /** The name would block a domain of `never_block`. */
  protected: 0x2000_0000,
} as const;
/** The bits that say that a record is there. */
export const RECORD_BITS = ZoneBit.name | ZoneBit.wildcard;
/** A later line is shown as this one. */
const MAX_LINE = 0x1fff_ffff;

/** The first word of a place. */
export function placeOf(line: number, record: number, isProtected: boolean): number {
  return Math.min(line, MAX_LINE) | record | (record !== 0 && isProtected ? ZoneBit.protected : 0);
}

/** The line in the first word of a place. */
export function lineOf(place: number): number {
  return place & MAX_LINE;
}

/** A list with its places. */
export interface PlacedNames {
  readonly names: Names;
  readonly places: NamePlaces;
}

/**
 * The places of the names of a list.
 * @param lines one for each name.
 * @param before the list before: the times of the names that it has stay.
 * @returns also `commonCount`: how many of the names the list before has; 0 without one.
 */
export function placeNames(
  { words }: Names,
  lines: Uint32Array,
  nowSeconds: number,
  before: PlacedNames | null,
): { readonly places: NamePlaces; readonly commonCount: number } {
  const known = before?.names.words ?? new Uint32Array(0);
  const places = new Uint32Array(words.length);
  let old = 0;
  let commonCount = 0;
  for (let at = 0; at < words.length; at += 2) {
    while (old < known.length && compare(known, old, words[at], words[at + 1]) < 0) old += 2;
    const isKnown = old < known.length && compare(known, old, words[at], words[at + 1]) === 0;
    places[at] = lines[at / 2];
    places[at + 1] = before !== null && isKnown ? before.places[old + 1] : nowSeconds;
    if (isKnown) commonCount++;
  }
  return { places, commonCount };
}

/** The line of each name: the first of those with which it was collected, with the record bits of all. */
export function linesOf(
  { words, count }: Names,
  collected: Uint32Array,
  lines: Uint32Array,
): Uint32Array<ArrayBuffer> {
  // Hashes are spread evenly, so a bucket has about one name.
  const shift = 32 - Math.max(1, Math.ceil(Math.log2(count + 1)));
  const starts = new Uint32Array(2 ** (32 - shift) + 1);
  for (let at = 1; at < words.length; at += 2) starts[(words[at] >>> shift) + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const found = new Uint32Array(count);
  for (let i = 0; i < lines.length; i++) {
    const low = collected[i * 2];
    const high = collected[i * 2 + 1];
    let at = starts[high >>> shift];
    while (compare(words, at * 2, low, high) !== 0) at++;
    if (found[at] === 0) found[at] = lines[i];
    else found[at] |= lines[i] & RECORD_BITS;
  }
  return found;
}

/** Names that are read at once: with the spread of hashes, one piece of a list of millions is enough as a rule. */
const PIECE = 8_192;

/**
 * Finds a name in a stored list without the whole list.
 * @param count names of the list.
 * @param read this many names from a position on: two words each.
 * @returns its position; -1: the list does not have it.
 */
export async function searchNames(
  count: number,
  low: number,
  high: number,
  read: (from: number, names: number) => Promise<Uint32Array>,
): Promise<number> {
  let first = 0;
  let end = count;
  while (first < end) {
    const guess = Math.floor((high / 2 ** 32) * count) - PIECE / 2;
    const from = Math.max(first, Math.min(guess, end - PIECE));
    const words = await read(from, Math.min(PIECE, end - from));
    const names = words.length / 2;
    const { at, isListed } = findName({ words, count: names }, low, high);
    if (isListed) return from + at;
    if (at === 0) end = from;
    else if (at === names) first = from + names;
    else return -1;
  }
  return -1;
}

/** Position of the first name that is not below the hash, and whether it has that hash. */
export function findName(
  { words, count }: Names,
  low: number,
  high: number,
): { readonly at: number; readonly isListed: boolean } {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (compare(words, middle * 2, low, high) < 0) from = middle + 1;
    else to = middle;
  }
  return { at: from, isListed: from < count && compare(words, from * 2, low, high) === 0 };
}

/** Below 0, 0 or above: the name at `at`, twice its position, comes before the hash, is it, or comes after it. */
function compare(words: Uint32Array, at: number, low: number, high: number): number {
  return words[at + 1] - high || words[at] - low;
}
