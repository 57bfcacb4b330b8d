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
  /**
   * Before this time the entry is being refreshed; 0: it is not. Set by the thread that begins it, cleared by the
   * writer. It ends by itself, whatever becomes of the refresh or of the thread.
   */
  refreshUntil: 13,
  words: 14,
} as const;

/**
 * Bytes of the word `Head.use`. Each is written by itself, so that threads which write one at the same time never undo
 * what is in another.
 */
export const Use = {
  /** See `Hits`. Every thread that finds the entry counts. When two do so at the same time, one hit may be lost. */
  hits: 0,
  /** 1 when the entry is an upstream failure, not an answer. Only the writer sets it. */
  failure: 1,
  /** 1 when the answer has private addresses. Only the writer sets it. */
  privateAddresses: 2,
} as const;

/** Bits of the byte `Use.hits`. All values of the byte are valid. */
export const Hits = {
  /** Two bits: the frequency of S3-FIFO. A hit adds one, a reinsertion takes one away. */
  frequency: 0b11,
  /** Two bits: hits since it was stored; 3 means three or more. */
  stored: 0b1100,
  oneStored: 0b100,
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
