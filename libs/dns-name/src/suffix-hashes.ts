import { toWireName } from './domain.js';
import {
  type HashKey,
  instantiateSip,
  Layout,
  MAX_LABELS,
  MAX_MESSAGE_BYTES,
  SIP_STATE_WORDS,
  startOfSip,
} from './sip-instance.js';

/*
 * One instance for all hashers of a thread. Between two calls its memory holds nothing that is still needed. Its
 * function and the views of its memory are constants of this module. As constants of another module they would make the
 * hash of a query a tenth slower.
 */
const { memory, hashLabels } = instantiateSip();
const sipStart = new Int32Array(memory, Layout.start, SIP_STATE_WORDS);
const sipMessage = new Uint8Array(memory, Layout.message, MAX_MESSAGE_BYTES);
const sipLabelStarts = new Uint8Array(memory, Layout.labelStarts, MAX_LABELS);
const sipLabelEnds = new Uint8Array(memory, Layout.labelEnds, MAX_LABELS);
const sipLow = new Uint32Array(memory, Layout.low, MAX_LABELS);
const sipHigh = new Uint32Array(memory, Layout.high, MAX_LABELS);

/** Bytes of the longest wire name and of the longest label (RFC 1035 §2.3.4). */
const MAX_WIRE_NAME = MAX_MESSAGE_BYTES;
const MAX_LABEL = 63;
/** All letters of ASCII are hashed in lower case. */
const FOLDED_LETTERS = 26;

/**
 * The keyed hashes of a name and of all its parents. A query computes them once, and every lookup uses them.
 *
 * The hash of a domain is SipHash-2-4 over its labels from the root down, each its length byte and its lower-case bytes
 * (decisions §4, §8): `www.example.com` hashes `03 com 07 example 03 www`. So the input of a parent is the beginning of
 * the input of its child, and one pass from the root is enough for all of them: a copy of the state is finalised at the
 * end of each label.
 *
 * Holds one name at a time; `compute` allocates nothing.
 */
export class SuffixHashes {
  /** Low and high 32 bits of each hash, unsigned. Index i: the suffix of i + 1 labels, so 0 is the top-level domain. */
  readonly low = new Uint32Array(MAX_LABELS);
  readonly high = new Uint32Array(MAX_LABELS);

  private labels = 0;
  private readonly start: Int32Array;

  constructor(key: HashKey) {
    this.start = startOfSip(key);
  }

  /** Labels of the last name; 0 for the root, and after a malformed one. */
  get count(): number {
    return this.labels;
  }

  /**
   * Hashes the uncompressed wire name that begins at `offset`, ASCII letters as lower case.
   * @returns the number of labels, 0 for the root; −1 when `bytes` end within the name, a length byte is no plain label
   *   (compression pointers included) or the name is longer than 255 bytes. Then there are no hashes.
   */
  compute(bytes: Uint8Array, offset: number): number {
    this.labels = 0;
    const count = takeName(bytes, offset);
    if (count <= 0) return count;
    for (let i = 0; i < SIP_STATE_WORDS; i++) sipStart[i] = this.start[i];
    hashLabels(count, FOLDED_LETTERS);
    for (let i = 0; i < count; i++) {
      this.low[i] = sipLow[i];
      this.high[i] = sipHigh[i];
    }
    this.labels = count;
    return count;
  }

  get savedWords(): number {
    return 1 + 2 * this.labels;
  }

  /** Writes the number of labels, then low and high bits of each hash. @returns the offset behind them */
  save(words: Int32Array, offset: number): number {
    let at = offset;
    words[at++] = this.labels;
    for (let i = 0; i < this.labels; i++) {
      words[at++] = this.low[i];
      words[at++] = this.high[i];
    }
    return at;
  }

  /** Reads what `save` wrote: the hashes are then those of that name. @returns the offset behind them */
  load(words: Int32Array, offset: number): number {
    let at = offset;
    this.labels = words[at++];
    for (let i = 0; i < this.labels; i++) {
      this.low[i] = words[at++];
      this.high[i] = words[at++];
    }
    return at;
  }
}

/** Copies a name and the bounds of its labels to the memory of the module. @returns as `compute`. */
function takeName(bytes: Uint8Array, offset: number): number {
  let count = 0;
  let position = 0;
  for (;;) {
    if (position >= MAX_WIRE_NAME || offset + position >= bytes.length) return -1;
    const length = bytes[offset + position];
    if (length === 0) return count;
    const end = position + length;
    if (length > MAX_LABEL || end >= MAX_WIRE_NAME || offset + end >= bytes.length) return -1;
    sipLabelStarts[count] = position;
    sipLabelEnds[count++] = end;
    for (; position <= end; position++) sipMessage[position] = bytes[offset + position];
  }
}

/** The high bits that remain when 64 bits are cut to 53 (decisions §4). */
const HIGH_BITS_OF_53 = 0x1f_ffff;
const TWO_TO_32 = 4_294_967_296;

/** One hasher for each key: a batch hashes many domains under the same key. */
const hashers = new WeakMap<HashKey, SuffixHashes>();

/**
 * The stored form of a normal form: SipHash-2-4 of its labels from the root down, cut to the low 53 bits (decisions §4,
 * §8).
 */
export function hashDomain(normalised: string, key: HashKey): number {
  // With `getOrInsertComputed` this lookup takes 17 ns in place of 9.
  let hashes = hashers.get(key);
  if (hashes === undefined) {
    hashes = new SuffixHashes(key);
    hashers.set(key, hashes);
  }
  const last = hashes.compute(toWireName(normalised), 0) - 1;
  return cutHash(hashes.low[last], hashes.high[last]);
}

/** The stored form of a hash of 64 bits, given as two unsigned words: its low 53 bits. */
export function cutHash(low: number, high: number): number {
  return (high & HIGH_BITS_OF_53) * TWO_TO_32 + low;
}

/** SipHash-2-4 of any bytes under one key; `SuffixHashes` is for names. Allocates nothing. */
export class SipHash {
  /** Low and high 32 bits of the last hash, signed. */
  low = 0;
  high = 0;
  private readonly start: Int32Array;

  constructor(key: HashKey) {
    this.start = startOfSip(key);
  }

  /** Hashes the first `length` bytes, 1 to 255. @throws RangeError for any other length. */
  hash(bytes: Uint8Array, length: number): void {
    if (!(length >= 1 && length <= MAX_MESSAGE_BYTES)) {
      throw new RangeError(`a message must have 1 to ${MAX_MESSAGE_BYTES} bytes`);
    }
    for (let i = 0; i < this.start.length; i++) sipStart[i] = this.start[i];
    for (let i = 0; i < length; i++) sipMessage[i] = bytes[i];
    sipLabelStarts[0] = 0;
    sipLabelEnds[0] = length - 1;
    hashLabels(1, 0);
    this.low = sipLow[0] | 0;
    this.high = sipHigh[0] | 0;
  }
}
