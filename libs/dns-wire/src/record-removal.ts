import { copyBytes, readUint16, writeUint16 } from './bytes.js';
import { BAD_NAME, expandName, skipName } from './names.js';
import { MAX_MESSAGE_BYTES, MAX_NAME_BYTES, RECORD_FIXED_BYTES } from './protocol.js';
import { firstNameInRdata, namesInRdata } from './moved-names.js';
import { endOfRecord, fixedPartOf, MAX_RECORDS, Response, TTL_OFFSET } from './response.js';

const RDLENGTH_OFFSET = 8;

/**
 * Copies a response without some of its records. Names are written in full: they may point into what is left out.
 * Reused; allocates nothing.
 */
export class RecordRemoval {
  /** 1 for each record to leave out, by index in the whole response. */
  readonly isRemoved = new Uint8Array(MAX_RECORDS);
  private readonly response = new Response();
  private readonly bytes = new Uint8Array(MAX_MESSAGE_BYTES);
  private readonly name = new Uint8Array(MAX_NAME_BYTES);
  /** Offset after what is written. */
  private end = 0;

  /**
   * @returns the copy, valid until the next call; null when a name is malformed, or the records do not fit. The
   *   response itself is not changed.
   */
  copy(from: Response): Response | null {
    const { response: to, bytes } = this;
    const { questionEnd, answerCount, authorityCount } = from;
    copyBytes(from.bytes, 0, bytes, 0, questionEnd);
    to.bytes = bytes;
    to.id = from.id;
    to.flags = from.flags;
    to.rcode = from.rcode;
    to.ede = from.ede;
    to.cookieAt = 0;
    to.questionEnd = questionEnd;
    to.ttlCount = 0;
    this.end = questionEnd;
    const authorityAt = answerCount;
    const additionalAt = answerCount + authorityCount;
    if (!this.copyRecords(from, 0, authorityAt)) return null;
    to.answerCount = to.ttlCount;
    if (!this.copyRecords(from, authorityAt, additionalAt)) return null;
    to.authorityCount = to.ttlCount - to.answerCount;
    if (!this.copyRecords(from, additionalAt, from.ttlCount)) return null;
    to.additionalCount = to.ttlCount - to.answerCount - to.authorityCount;
    to.recordsEnd = this.end;
    return to;
  }

  private copyRecords(from: Response, first: number, end: number): boolean {
    for (let i = first; i < end; i++) {
      if (this.isRemoved[i] === 1) continue;
      const ownerAt =
        i === 0 ? from.questionEnd : endOfRecord(from.bytes, fixedPartOf(from, i - 1));
      if (!this.copyRecord(from.bytes, ownerAt, fixedPartOf(from, i))) return false;
    }
    return true;
  }

  private copyRecord(bytes: Uint8Array, ownerAt: number, fixed: number): boolean {
    const { response } = this;
    const recordEnd = endOfRecord(bytes, fixed);
    const type = readUint16(bytes, fixed);
    if (!this.writeName(bytes, fixed, ownerAt)) return false;
    const fixedAt = this.end;
    const rdataAt = fixedAt + RECORD_FIXED_BYTES;
    const names = namesInRdata(type);
    let at = names === 0 ? recordEnd : firstNameInRdata(fixed, type);
    if (at > recordEnd || !this.write(bytes, fixed, at)) return false;
    for (let left = names; left > 0; left--) {
      if (!this.writeName(bytes, recordEnd, at)) return false;
      at = skipName(bytes, recordEnd, at);
    }
    if (!this.write(bytes, at, recordEnd)) return false;
    writeUint16(this.bytes, fixedAt + RDLENGTH_OFFSET, this.end - rdataAt);
    response.ttlOffsets[response.ttlCount++] = fixedAt + TTL_OFFSET;
    return true;
  }

  private writeName(bytes: Uint8Array, length: number, offset: number): boolean {
    const size = expandName(bytes, length, offset, this.name);
    return size !== BAD_NAME && this.write(this.name, 0, size);
  }

  /** @returns false when there is no room */
  private write(bytes: Uint8Array, from: number, to: number): boolean {
    const size = to - from;
    if (this.end + size > MAX_MESSAGE_BYTES) return false;
    copyBytes(bytes, from, this.bytes, this.end, size);
    this.end += size;
    return true;
  }
}
