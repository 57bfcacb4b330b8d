import { copyBytes, equalsAt, readUint16 } from './bytes.js';
import { BAD_NAME, expandName, lowerCase } from './names.js';
import {
  HEADER_BYTES,
  MAX_NAME_BYTES,
  QUESTION_FIXED_BYTES,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';
import { endOfRecord, fixedPartOf, MAX_RECORDS, type Response } from './response.js';

/** The most targets of an answer. More make no more work (decisions §13). */
export const MAX_TARGETS = 32;
/** So often may the owner of a record be compared with another name, in one answer. */
const MAX_MISSES = 8192;
/** Bytes of SvcPriority before the TargetName (RFC 9460 §2.2). */
const SVC_PRIORITY_BYTES = 2;

export const ChainStatus = {
  whole: 0,
  /** A target is not a valid name. */
  malformed: 1,
  /** More targets than `MAX_TARGETS`, or too many records that do not belong to the question. */
  tooLong: 2,
} as const;
export type ChainStatus = (typeof ChainStatus)[keyof typeof ChainStatus];

/**
 * Which records of the answer section belong to the question, and to which names the answer leads. The chain begins
 * with the queried name. A CNAME record leads from its owner to its target, a DNAME record from a name below its owner
 * to the same name below its target (RFC 6672 §2.2), in any order. A record belongs to the chain if its owner is one of
 * these names, and a DNAME record, with its signature, if one of them is below its owner. All others are strays.
 *
 * The targets are the names of the chain except the queried one, TargetNames of HTTPS and SVCB records except the root,
 * which stands for the owner itself (RFC 9460 §2.5), and targets of DNAME records that do not lead on. Reused;
 * allocates nothing.
 */
export class AnswerChain {
  /** After `walk`: 1 for each record of the answer section that belongs to the chain, by index. */
  readonly isMember = new Uint8Array(MAX_RECORDS);
  /** After `walk`: number of records of the answer section that do not. */
  strayCount = 0;
  /** After `walk`: number of targets. */
  targetCount = 0;
  /** Lower-case wire names, `MAX_NAME_BYTES` for each: the targets, after the queried name. */
  readonly names = new Uint8Array((1 + MAX_TARGETS) * MAX_NAME_BYTES);
  private readonly sizes = new Uint8Array(1 + MAX_TARGETS);
  /** 1: records of this name belong to the chain. */
  private readonly isLink = new Uint8Array(1 + MAX_TARGETS);
  /** How often a name was added, or became a part of the chain. */
  private growth = 0;
  private misses = 0;
  private hasDname = false;
  private readonly owner = new Uint8Array(MAX_NAME_BYTES);
  private ownerBytes = 0;
  private readonly target = new Uint8Array(MAX_NAME_BYTES);

  /** What it finds is complete only if the result is `whole`. */
  walk(response: Response): ChainStatus {
    const nameBytes = response.questionEnd - QUESTION_FIXED_BYTES - HEADER_BYTES;
    copyBytes(response.bytes, HEADER_BYTES, this.names, 0, nameBytes);
    toLowerCase(this.names, nameBytes);
    this.sizes[0] = nameBytes;
    this.isLink[0] = 1;
    this.targetCount = 0;
    this.misses = 0;
    this.hasDname = false;
    for (let i = 0; i < response.answerCount; i++) this.isMember[i] = 0;
    for (;;) {
      const { growth } = this;
      const status = this.readAll(response);
      if (status !== ChainStatus.whole || this.growth === growth) return status;
      if (this.strayCount === 0 && !this.hasDname) return status;
    }
  }

  /** Offset of a target in `names`. */
  targetAt(index: number): number {
    return (1 + index) * MAX_NAME_BYTES;
  }

  private readAll(response: Response): ChainStatus {
    const { bytes, answerCount } = response;
    this.strayCount = 0;
    let ownerAt = response.questionEnd;
    for (let i = 0; i < answerCount; i++) {
      const fixed = fixedPartOf(response, i);
      // A DNAME record may lead on from a name that was found after it.
      if (this.isMember[i] === 0 || readUint16(bytes, fixed) === Type.dname) {
        const status = this.readRecord(bytes, ownerAt, fixed, i);
        if (status !== ChainStatus.whole) return status;
      }
      if (this.isMember[i] === 0) this.strayCount++;
      ownerAt = endOfRecord(bytes, fixed);
    }
    return ChainStatus.whole;
  }

  private readRecord(
    bytes: Uint8Array,
    ownerAt: number,
    fixed: number,
    index: number,
  ): ChainStatus {
    this.ownerBytes = expandName(bytes, fixed, ownerAt, this.owner);
    if (this.ownerBytes === BAD_NAME) {
      this.misses++;
      return this.misses > MAX_MISSES ? ChainStatus.tooLong : ChainStatus.whole;
    }
    toLowerCase(this.owner, this.ownerBytes);
    const type = readUint16(bytes, fixed);
    const end = endOfRecord(bytes, fixed);
    const rdata = fixed + RECORD_FIXED_BYTES;
    const isMember = this.isOwnerLink();
    if (this.misses > MAX_MISSES) return ChainStatus.tooLong;
    const covered = type === Type.rrsig && rdata + 2 <= end ? readUint16(bytes, rdata) : type;
    if (!isMember && covered !== Type.dname) return ChainStatus.whole;
    if (!isMember) return this.substitute(bytes, end, rdata, index, type === Type.dname);
    this.isMember[index] = 1;
    if (type === Type.cname) return this.addTarget(bytes, end, rdata, true);
    if (type === Type.https || type === Type.svcb) {
      return this.addTarget(bytes, end, rdata + SVC_PRIORITY_BYTES, false);
    }
    if (type !== Type.dname) return ChainStatus.whole;
    const status = this.addTarget(bytes, end, rdata, false);
    if (status !== ChainStatus.whole) return status;
    return this.substitute(bytes, end, rdata, index, true);
  }

  private isOwnerLink(): boolean {
    for (let i = this.targetCount; i >= 0; i--) {
      if (this.isLink[i] === 0) continue;
      if (this.equalsName(i, this.owner, this.ownerBytes)) return true;
      this.misses++;
    }
    return false;
  }

  /** The record is a DNAME record, or its signature: finds the names below its owner, and where it leads them to. */
  private substitute(
    bytes: Uint8Array,
    end: number,
    rdata: number,
    index: number,
    isDname: boolean,
  ): ChainStatus {
    const { names, target } = this;
    this.hasDname = true;
    for (let i = 0; i <= this.targetCount; i++) {
      const prefix = this.isLink[i] === 1 ? this.prefixOf(i) : 0;
      if (prefix === 0) continue;
      this.isMember[index] = 1;
      if (!isDname) return ChainStatus.whole;
      const size = expandName(bytes, end, rdata, target);
      if (size === BAD_NAME) return ChainStatus.malformed;
      // A name that would be too long does not exist (YXDOMAIN).
      const leadsOn = prefix + size <= MAX_NAME_BYTES;
      if (leadsOn) {
        target.copyWithin(prefix, 0, size);
        copyBytes(names, i * MAX_NAME_BYTES, target, 0, prefix);
      }
      const status = this.add(leadsOn ? prefix + size : size, leadsOn);
      if (status !== ChainStatus.whole) return status;
    }
    return ChainStatus.whole;
  }

  /** @returns how many bytes the name has before the owner; 0: it is not below it */
  private prefixOf(index: number): number {
    const { names, sizes, ownerBytes } = this;
    const start = index * MAX_NAME_BYTES;
    const prefix = sizes[index] - ownerBytes;
    let at = 0;
    while (at < prefix) at += names[start + at] + 1;
    this.misses++;
    const isBelow = at === prefix && equalsAt(names, start + at, this.owner, ownerBytes);
    return isBelow ? prefix : 0;
  }

  private addTarget(bytes: Uint8Array, end: number, at: number, isLink: boolean): ChainStatus {
    const size = expandName(bytes, end, at, this.target);
    if (size === BAD_NAME) return ChainStatus.malformed;
    return size > 1 || isLink ? this.add(size, isLink) : ChainStatus.whole;
  }

  /** Adds the name in `target`, unless it is known. */
  private add(size: number, isLink: boolean): ChainStatus {
    const { target, names } = this;
    toLowerCase(target, size);
    for (let i = 0; i <= this.targetCount; i++) {
      if (!this.equalsName(i, target, size)) continue;
      if (isLink && this.isLink[i] === 0) {
        this.isLink[i] = 1;
        this.growth++;
      }
      return ChainStatus.whole;
    }
    if (this.targetCount === MAX_TARGETS) return ChainStatus.tooLong;
    const index = ++this.targetCount;
    copyBytes(target, 0, names, index * MAX_NAME_BYTES, size);
    this.sizes[index] = size;
    this.isLink[index] = isLink ? 1 : 0;
    this.growth++;
    return ChainStatus.whole;
  }

  private equalsName(index: number, name: Uint8Array, size: number): boolean {
    const { names, sizes } = this;
    return sizes[index] === size && equalsAt(names, index * MAX_NAME_BYTES, name, size);
  }
}

/** A length byte of a label is never that of a letter. */
function toLowerCase(name: Uint8Array, size: number): void {
  for (let i = 0; i < size; i++) name[i] = lowerCase(name[i]);
}
