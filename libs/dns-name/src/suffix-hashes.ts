import type { HashKey } from './hash-key.js';
import { SIP_STATE_WORDS, startOfSip } from './sip-state.js';
import { instantiateSip, Layout } from './sip-module.js';

/** Labels of the longest name: 255 bytes, each label at least two, the root one (RFC 1035 §2.3.4). */
const MAX_LABELS = 127;
const MAX_WIRE_NAME = 255;
const MAX_LABEL = 63;

/** One module serves all hashers of a thread, one call at a time: its memory holds nothing between two calls but the last key. */
const sip = instantiateSip();
const sipStart = new Int32Array(sip.memory, Layout.start, SIP_STATE_WORDS);
const sipName = new Uint8Array(sip.memory, Layout.name, MAX_WIRE_NAME);
const sipLabelOffsets = new Uint8Array(sip.memory, Layout.labelOffsets, MAX_LABELS);
const sipLow = new Uint32Array(sip.memory, Layout.low, MAX_LABELS);
const sipHigh = new Uint32Array(sip.memory, Layout.high, MAX_LABELS);

/**
 * The keyed hashes of a name and of all its parents, made once a query and used by every lookup.
 *
 * The hash of a domain is SipHash-2-4 over its labels from the root down, each its length byte and its lower-case bytes
 * (decisions §4, §8): `www.example.com` hashes `03 com 07 example 03 www`. So a parent's input is the beginning of its
 * child's, and one pass from the root serves all of them: at each label's end a copy of the state is finalised.
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
    sip.hashSuffixes(count);
    for (let i = 0; i < count; i++) {
      this.low[i] = sipLow[i];
      this.high[i] = sipHigh[i];
    }
    this.labels = count;
    return count;
  }
}

/** Copies a name and the offsets of its labels to where the module reads them. @returns as `compute`. */
function takeName(bytes: Uint8Array, offset: number): number {
  let count = 0;
  let position = 0;
  for (;;) {
    if (position >= MAX_WIRE_NAME || offset + position >= bytes.length) return -1;
    const length = bytes[offset + position];
    if (length === 0) return count;
    const end = position + length;
    if (length > MAX_LABEL || end >= MAX_WIRE_NAME || offset + end >= bytes.length) return -1;
    sipLabelOffsets[count++] = position;
    for (; position <= end; position++) sipName[position] = bytes[offset + position];
  }
}
