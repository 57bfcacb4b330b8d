import { readUint16 } from './bytes.js';
import { BAD_NAME, expandName } from './names.js';
import { RECORD_FIXED_BYTES, Type } from './protocol.js';
import { endOfRecord, skipOwner, type Response } from './response.js';

/** Bytes of SvcPriority before the TargetName (RFC 9460 §2.2). */
const SVC_PRIORITY_BYTES = 2;

/**
 * Iterates over the names that an answer leads to: targets of CNAME records, and TargetNames of HTTPS and SVCB records
 * except the root, which stands for the owner itself (RFC 9460 §2.5). Answer section only. Reused.
 *
 * ```ts
 * targets.start(response);
 * for (let size = targets.next(scratch); size > 0; size = targets.next(scratch)) check(scratch);
 * ```
 */
export class TargetCursor {
  /** What `next` returns after the last name. */
  static readonly end = 0;
  /** What `next` returns when a target is not a valid name: the response is malformed. */
  static readonly malformed = -1;

  private bytes: Uint8Array = new Uint8Array(0);
  private length = 0;
  private at = 0;
  private left = 0;

  start(response: Response): void {
    this.bytes = response.bytes;
    this.length = response.recordsEnd;
    this.at = response.questionEnd;
    this.left = response.answerCount;
  }

  /**
   * Writes the next name, uncompressed, to the start of `scratch` (255 bytes or more). @returns its size in bytes,
   * `end` or `malformed`
   */
  next(scratch: Uint8Array): number {
    while (this.left > 0) {
      const fixed = skipOwner(this.bytes, this.length, this.at);
      this.left--;
      this.at = endOfRecord(this.bytes, fixed);
      const type = readUint16(this.bytes, fixed);
      const isService = type === Type.https || type === Type.svcb;
      if (type !== Type.cname && !isService) continue;
      const name = fixed + RECORD_FIXED_BYTES + (isService ? SVC_PRIORITY_BYTES : 0);
      const size = expandName(this.bytes, this.at, name, scratch);
      if (size === BAD_NAME) return TargetCursor.malformed;
      if (size > 1 || !isService) return size;
    }
    return TargetCursor.end;
  }
}
