import { copyBytes } from './bytes.js';
import { appendRecord } from './copied-records.js';
import { MAX_MESSAGE_BYTES } from './protocol.js';
import { MAX_RECORDS, Response } from './response.js';

/** Copies a response without some of its records. Reused; allocates nothing. */
export class RecordRemoval {
  /** 1 for each record to leave out, by index in the whole response. */
  readonly isRemoved = new Uint8Array(MAX_RECORDS);
  private readonly response = new Response();

  constructor() {
    this.response.bytes = new Uint8Array(MAX_MESSAGE_BYTES);
  }

  /**
   * @returns the copy, valid until the next call; null when a name is malformed, or the records do not fit. The
   *   response itself is not changed.
   */
  copy(from: Response): Response | null {
    const { response: to } = this;
    const { questionEnd, answerCount, authorityCount } = from;
    copyBytes(from.bytes, 0, to.bytes, 0, questionEnd);
    to.id = from.id;
    to.flags = from.flags;
    to.rcode = from.rcode;
    to.ede = from.ede;
    to.cookieAt = 0;
    to.questionEnd = questionEnd;
    to.recordsEnd = questionEnd;
    to.ttlCount = 0;
    const additionalAt = answerCount + authorityCount;
    if (!this.copyRecords(from, 0, answerCount)) return null;
    to.answerCount = to.ttlCount;
    if (!this.copyRecords(from, answerCount, additionalAt)) return null;
    to.authorityCount = to.ttlCount - to.answerCount;
    if (!this.copyRecords(from, additionalAt, from.ttlCount)) return null;
    to.additionalCount = to.ttlCount - to.answerCount - to.authorityCount;
    return to;
  }

  private copyRecords(from: Response, first: number, end: number): boolean {
    for (let i = first; i < end; i++) {
      if (this.isRemoved[i] === 0 && !appendRecord(this.response, from, i)) return false;
    }
    return true;
  }
}
