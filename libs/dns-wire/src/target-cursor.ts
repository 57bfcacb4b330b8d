import { copyBytes, readUint16 } from './bytes.js';
import { BAD_NAME, expandName } from './names.js';
import {
  HEADER_BYTES,
  MAX_NAME_BYTES,
  QUESTION_FIXED_BYTES,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';
import { endOfRecord, skipOwner, type Response } from './response.js';

/** Bytes of SvcPriority before the TargetName (RFC 9460 §2.2). */
const SVC_PRIORITY_BYTES = 2;

/**
 * Iterates over the names that an answer leads to: targets of CNAME records, what a DNAME record makes of the queried
 * name (RFC 6672 §2.2), and TargetNames of HTTPS and SVCB records except the root, which stands for the owner itself
 * (RFC 9460 §2.5). Answer section only. Reused.
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
  private questionEnd = 0;
  private left = 0;
  /** The owner of a DNAME record. */
  private readonly owner = new Uint8Array(MAX_NAME_BYTES);

  start(response: Response): void {
    this.bytes = response.bytes;
    this.length = response.recordsEnd;
    this.at = response.questionEnd;
    this.questionEnd = response.questionEnd;
    this.left = response.answerCount;
  }

  /**
   * Writes the next name, uncompressed, to the start of `scratch` (255 bytes or more). @returns its size in bytes,
   * `end` or `malformed`
   */
  next(scratch: Uint8Array): number {
    while (this.left > 0) {
      const ownerAt = this.at;
      const fixed = skipOwner(this.bytes, this.length, ownerAt);
      this.left--;
      this.at = endOfRecord(this.bytes, fixed);
      const type = readUint16(this.bytes, fixed);
      if (type === Type.dname) return this.substitute(ownerAt, fixed, scratch);
      const isService = type === Type.https || type === Type.svcb;
      if (type !== Type.cname && !isService) continue;
      const name = fixed + RECORD_FIXED_BYTES + (isService ? SVC_PRIORITY_BYTES : 0);
      const size = expandName(this.bytes, this.at, name, scratch);
      if (size === BAD_NAME) return TargetCursor.malformed;
      if (size > 1 || !isService) return size;
    }
    return TargetCursor.end;
  }

  /**
   * Writes the queried name with the target of a DNAME record in place of its owner; the target alone where the queried
   * name is not below the owner, or the name would be too long.
   */
  private substitute(ownerAt: number, fixed: number, scratch: Uint8Array): number {
    const { bytes, at, owner } = this;
    const ownerBytes = expandName(bytes, fixed, ownerAt, owner);
    const size = expandName(bytes, at, fixed + RECORD_FIXED_BYTES, scratch);
    if (ownerBytes === BAD_NAME || size === BAD_NAME) return TargetCursor.malformed;
    const prefix = this.prefixBefore(ownerBytes);
    if (prefix <= 0 || prefix + size > MAX_NAME_BYTES) return size;
    scratch.copyWithin(prefix, 0, size);
    copyBytes(bytes, HEADER_BYTES, scratch, 0, prefix);
    return prefix + size;
  }

  /** @returns how many bytes the queried name has before `owner`; −1: it is not below it */
  private prefixBefore(ownerBytes: number): number {
    const { bytes, owner } = this;
    const ownerAt = this.questionEnd - QUESTION_FIXED_BYTES - ownerBytes;
    let at = HEADER_BYTES;
    while (at < ownerAt) at += bytes[at] + 1;
    if (at !== ownerAt) return -1;
    for (let i = 0; i < ownerBytes; i++) if (lower(bytes[at + i]) !== lower(owner[i])) return -1;
    return ownerAt - HEADER_BYTES;
  }
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
