import type { SuffixHashes } from '@weir/dns-name';
import {
  copyBytes,
  HEADER_BYTES,
  MAX_NAME_BYTES,
  Query,
  QUESTION_FIXED_BYTES,
} from '@weir/dns-wire';
import type { Question } from './question.js';

/** A question that is not the one of a client's query, but for another name. Reused; allocates nothing. */
export class OwnQuestion implements Question {
  readonly bytes = new Uint8Array(HEADER_BYTES + MAX_NAME_BYTES + QUESTION_FIXED_BYTES);
  readonly query = new Query();
  nameHashLow = 0;
  nameHashHigh = 0;

  /**
   * Becomes the question of `other` for another name.
   * @param name a wire name other than the root
   * @param hashes of its suffixes
   */
  setName(other: Question, name: Uint8Array, hashes: SuffixHashes): void {
    const { bytes, query } = this;
    const otherFixed = other.query.questionEnd - QUESTION_FIXED_BYTES;
    const fixed = HEADER_BYTES + name.length;
    copyBytes(name, 0, bytes, HEADER_BYTES, name.length);
    copyBytes(other.bytes, otherFixed, bytes, fixed, QUESTION_FIXED_BYTES);
    query.copyFrom(other.query);
    query.questionEnd = fixed + QUESTION_FIXED_BYTES;
    this.nameHashLow = hashes.low[hashes.count - 1] | 0;
    this.nameHashHigh = hashes.high[hashes.count - 1] | 0;
  }

  copyFrom(other: Question): void {
    copyBytes(other.bytes, 0, this.bytes, 0, other.query.questionEnd);
    this.query.copyFrom(other.query);
    this.nameHashLow = other.nameHashLow;
    this.nameHashHigh = other.nameHashHigh;
  }
}
