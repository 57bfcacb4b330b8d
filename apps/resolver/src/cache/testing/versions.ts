/*
 * The answers to many names, each in versions of its own: NXDOMAIN, or some A records. A version can be told from the
 * answer: the TTL of each record is `TTL` plus the version, and an address holds the name and the version.
 */

export const NAMES = 600;
/** All threads that write put these names. Each of the others has one thread that puts it. */
const COMMON_NAMES = 60;
export const TTL = 1000;
/** What the answer of a version is. */
export const isNxDomain = (version: number): boolean => version % 5 === 0;
export const addressCount = (name: number, version: number): number =>
  1 + ((name * 7 + version * 13) % 24);
export const addressOf = (name: number, version: number): number[] => [
  name >>> 8,
  name & 255,
  version >>> 8,
  version & 255,
];

const word = (value: number): number[] => [value >>> 24, value >>> 16, value >>> 8, value];

function record(type: number, ttl: number, rdata: readonly number[]): number[] {
  return [0xc0, 12, 0, type, 0, 1, ...word(ttl), 0, rdata.length, ...rdata];
}

/** The response to the query for a name, as an upstream sends it. */
export function packetOf(
  query: Uint8Array,
  questionEnd: number,
  name: number,
  version: number,
): Uint8Array {
  const ttl = TTL + version;
  const count = isNxDomain(version) ? 0 : addressCount(name, version);
  const address = record(1, ttl, addressOf(name, version));
  const soa = record(6, ttl, [0, 0, ...[1, 2, 3, 4, ttl].flatMap(word)]);
  const counts = count === 0 ? [0x83, 0, 1, 0, 0, 0, 1, 0, 0] : [0x80, 0, 1, 0, count, 0, 0, 0, 0];
  return Uint8Array.from([
    ...[0, 0, 0x81, ...counts],
    ...query.subarray(12, questionEnd),
    ...(count === 0 ? soa : Array.from({ length: count }, () => address).flat()),
  ]);
}

/** Words that the threads share: whether to stop, the name to claim, then two for each name. */
export const STOP = 0;
export const CURRENT = 1;
/** The last version that was asked for. */
export const begunAt = (name: number): number => 2 + 2 * name;
/** A version. No older one may be found. */
export const keptAt = (name: number): number => 3 + 2 * name;
/** How often a refresh of the name was claimed. */
export const claimsAt = keptAt;
export const WORDS = 2 + 2 * NAMES;

/** From now on, no version of the name that is older than this one may be found. */
export function raiseKept(words: Int32Array, name: number, version: number): void {
  const at = keptAt(name);
  let kept = Atomics.load(words, at);
  while (kept < version) {
    const before = Atomics.compareExchange(words, at, kept, version);
    if (before === kept) return;
    kept = before;
  }
}

/** Whether only that thread puts the name. Then its versions follow one another in the cache. */
export function isOwn(name: number, thread: number, threads: number): boolean {
  return name >= COMMON_NAMES && name % threads === thread;
}

/** A name that the thread puts, at or after this one. */
export function putName(from: number, thread: number, threads: number): number {
  let name = from;
  while (name >= COMMON_NAMES && !isOwn(name, thread, threads)) name = (name + 1) % NAMES;
  return name;
}
