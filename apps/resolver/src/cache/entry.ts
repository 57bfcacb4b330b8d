/*
 * A cache entry is a run of words in an `Int32Array`: the head, then the offsets of the TTLs (16 bits each, padded to
 * a whole word), then the message without its header, up to its last record (padded), then the hashes of its targets.
 * The message begins with the question, so it begins with the name of the entry.
 */

/** Words of the head, as offsets from the start of the entry. */
export const Head = {
  /** Size of the record in words, see `RingBuffer`. It may be more than the entry needs. */
  size: 0,
  /** Hash of the qname, low and high 32 bits. */
  low: 1,
  high: 2,
  /** See `questionKey`; for NXDOMAIN of all types, `nameKey`. */
  key: 3,
  /** Times are seconds on the clock of the cache. */
  storedAt: 4,
  expiresAt: 5,
  /** Before this time the entry is not refreshed again: the last attempt has just failed. */
  retryAt: 6,
  /** Upper 16 bits: offset in the message after the last record. Lower 16 bits: number of TTLs. */
  sizes: 7,
  /** Upper 16 bits: records in the answer section. Lower 16 bits: records in the authority section. */
  counts: 8,
  /** Upper 16 bits: records in the additional section. Lower 16 bits: flags of the header. */
  flags: 9,
  /** INFO-CODE or `Ede.none`. */
  ede: 10,
  /** See `Use`. */
  use: 11,
  /** Upper 16 bits: words of the hashes of its targets. Lower 16 bits: number of targets plus one; 0 if unknown. */
  targets: 12,
  words: 13,
} as const;

/** Bits of the word `Head.use`. */
export const Use = {
  /** Two bits: the frequency of S3-FIFO. A hit adds one, a reinsertion takes one away. */
  frequency: 0b11,
  /** Two bits: hits since it was stored; 3 means three or more. */
  hits: 0b1100,
  oneHit: 0b100,
  /** It is being refreshed. */
  refreshing: 0b1_0000,
  /** The entry is an upstream failure, not an answer. */
  failure: 0b10_0000,
} as const;

/** Number of words for that many TTL offsets. */
export function ttlWords(ttlCount: number): number {
  return (ttlCount + 1) >> 1;
}

/**
 * Size of an entry in words.
 * @param recordsEnd offset in the message after its last record
 * @param headerBytes size of the header, which is not stored
 * @param targetWords words of the hashes of its targets
 */
export function entryWords(
  recordsEnd: number,
  headerBytes: number,
  ttlCount: number,
  targetWords: number,
): number {
  return Head.words + ttlWords(ttlCount) + ((recordsEnd - headerBytes + 3) >> 2) + targetWords;
}
