import type { HashKey } from './hash-key.js';
import { MAX_MESSAGE_BYTES, sip, startOfSip } from './sip-instance.js';

const { hashLabels } = sip;
const sipStart = sip.start;
const sipMessage = sip.message;
const sipLabelStarts = sip.labelStarts;
const sipLabelEnds = sip.labelEnds;
const sipLow = sip.low;
const sipHigh = sip.high;

/** SipHash-2-4 of any bytes under one key; `SuffixHashes` is for names. Allocates nothing. */
export class SipHash {
  /** Low and high 32 bits of the last hash, signed. */
  low = 0;
  high = 0;
  private readonly start: Int32Array;

  constructor(key: HashKey) {
    this.start = startOfSip(key);
  }

  /**
   * Hashes the first `length` bytes, 1 to 255.
   * @throws RangeError for any other length.
   */
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
