/*
 * The answers to many names, each in versions of its own: NXDOMAIN, or some A records. A version can be told from the
 * answer: the TTL of each record is `TTL` plus the version, and an address holds the name and the version.
 */

export const NAMES = 600;
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

/** Words that test and reader share: whether to stop, the name to claim, then two for each name. */
export const STOP = 0;
export const CURRENT = 1;
/** The last version that was put, or began to be. */
export const begunAt = (name: number): number => 2 + 2 * name;
/** The last version that is known to be in the cache, if anything of the name is. */
export const keptAt = (name: number): number => 3 + 2 * name;
/** How often a refresh of the name was claimed. */
export const claimsAt = keptAt;
export const WORDS = 2 + 2 * NAMES;
