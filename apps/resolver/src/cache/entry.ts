/*
 * An entry of the cache: words of an `Int32Array` at an offset, the head, then the offsets of the TTLs (16 bits each, filled up to a
 * whole word), then the message from behind its header to its last record (filled up). The message begins with the question, so an
 * entry's name stands at the start of it.
 */

/** Words of the head, as offsets from the entry's. */
export const Head = {
  /** Size of the record in words, see `RingLog`; may be more than the entry needs. */
  size: 0,
  /** Hash of the qname, low and high 32 bits. */
  low: 1,
  high: 2,
  /** See `questionKey`. */
  key: 3,
  /** Seconds of the cache's clock. */
  storedAt: 4,
  expiresAt: 5,
  /** While it is before this, the last attempt to refresh the entry has just failed. */
  retryAt: 6,
  /** Records end at this byte of the message in the upper 16 bits, number of TTLs in the lower. */
  sizes: 7,
  /** Records of the answer section in the upper 16 bits, of the authority section in the lower. */
  counts: 8,
  /** Records of the additional section in the upper 16 bits, flags of the header in the lower. */
  flags: 9,
  /** INFO-CODE or `Ede.none`. */
  ede: 10,
  /** See `Use`. */
  use: 11,
  words: 12,
} as const;

/** The word that says how an entry was used. */
export const Use = {
  /** Two bits: hits not yet paid for by having been spared (S3-FIFO's frequency). */
  frequency: 0b11,
  /** Two bits: hits since it was stored, 3 standing for more. */
  hits: 0b1100,
  oneHit: 0b100,
  /** It is being renewed. */
  refreshing: 0b1_0000,
  /** The entry is a failure of upstream, not an answer. */
  failure: 0b10_0000,
} as const;

/** Words for so many TTLs. */
export function ttlWords(ttlCount: number): number {
  return (ttlCount + 1) >> 1;
}

/** Words of an entry. @param recordsEnd offset in the message after its last record, @param headerBytes those that are left out */
export function entryWords(recordsEnd: number, headerBytes: number, ttlCount: number): number {
  return Head.words + ttlWords(ttlCount) + ((recordsEnd - headerBytes + 3) >> 2);
}
