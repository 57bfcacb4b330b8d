import { copyBytes, writeUint16 } from './bytes.js';
import { hasUsableRcode } from './cache-ttl.js';
import { appendRecord } from './copied-records.js';
import {
  CLASS_IN,
  Ede,
  Flag,
  HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  QNAME_POINTER,
  Rcode,
  Type,
} from './protocol.js';
import type { Query } from './query.js';
import { Response, setEmptyResponse, TTL_OFFSET } from './response.js';
import { SOA_BYTES, writeFixedPart, writeSoaRdata } from './own-records.js';

const POINTER_BYTES = 2;

/**
 * Builds a response to a question from records of our own, and from the response to another question, the name that
 * the last record leads to. Reused; allocates nothing.
 *
 * ```ts
 * builder.start(bytes, query);
 * builder.addAnswer(null, Type.cname, 60, target);
 * if (builder.append(responseOfTarget)) send(builder.response);
 * ```
 */
export class ResponseBuilder {
  /** Valid until the next `start`. */
  readonly response = new Response();
  private readonly bytes = new Uint8Array(MAX_MESSAGE_BYTES);

  /** Begins a response to the query: NOERROR, no records. */
  start(bytes: Uint8Array, query: Query): void {
    copyBytes(bytes, HEADER_BYTES, this.bytes, HEADER_BYTES, query.questionEnd - HEADER_BYTES);
    setEmptyResponse(this.response, this.bytes, query, 0, Ede.none);
  }

  /**
   * Adds a record to the answer section. All together must leave room for the largest name and an SOA record.
   * @param owner a wire name; null: the queried name
   */
  addAnswer(owner: Uint8Array | null, type: number, ttlSeconds: number, rdata: Uint8Array): void {
    const at = this.addFixed(owner, type, ttlSeconds, rdata.length);
    copyBytes(rdata, 0, this.bytes, at, rdata.length);
    this.response.answerCount++;
  }

  /**
   * Adds the SOA record of an empty zone to the authority section: there are no more records of the name (RFC 2308 §5).
   * @param owner a wire name; null: the queried name
   */
  addSoa(owner: Uint8Array | null, ttlSeconds: number): void {
    const nameAt = owner === null ? HEADER_BYTES : this.response.recordsEnd;
    const at = this.addFixed(owner, Type.soa, ttlSeconds, SOA_BYTES);
    writeSoaRdata(this.bytes, at, nameAt, ttlSeconds);
    this.response.authorityCount++;
  }

  /** Makes the RCODE NXDOMAIN: the name to which the last record leads does not exist. */
  setNoName(): void {
    this.response.rcode = Rcode.nxDomain;
    this.response.flags |= Rcode.nxDomain;
  }

  /**
   * Appends all records of a response to another question: for the name that the last record leads to, or, before any
   * record, for a name whose answer holds for the queried one too. RCODE, EDE and TC become those of that response. An
   * error is passed on without records.
   * @returns false when its records are malformed, or do not fit; the response is then undefined
   */
  append(other: Response): boolean {
    const { response } = this;
    response.rcode = other.rcode;
    // The records before are not authenticated.
    response.flags = response.ttlCount === 0 ? other.flags : other.flags & ~Flag.ad;
    response.ede = other.ede;
    if (!hasUsableRcode(other)) {
      response.answerCount = response.authorityCount = response.ttlCount = 0;
      response.recordsEnd = response.questionEnd;
      return true;
    }
    for (let i = 0; i < other.ttlCount; i++) if (!appendRecord(response, other, i)) return false;
    response.answerCount += other.answerCount;
    response.authorityCount += other.authorityCount;
    response.additionalCount += other.additionalCount;
    return true;
  }

  /** @returns the offset of the rdata */
  private addFixed(
    owner: Uint8Array | null,
    type: number,
    ttlSeconds: number,
    rdataBytes: number,
  ): number {
    const { bytes, response } = this;
    const at = response.recordsEnd;
    let fixed = at + POINTER_BYTES;
    if (owner === null) {
      writeUint16(bytes, at, QNAME_POINTER);
    } else {
      copyBytes(owner, 0, bytes, at, owner.length);
      fixed = at + owner.length;
    }
    const rdata = writeFixedPart(bytes, fixed, type, CLASS_IN, ttlSeconds, rdataBytes);
    response.ttlOffsets[response.ttlCount++] = fixed + TTL_OFFSET;
    response.recordsEnd = rdata + rdataBytes;
    return rdata;
  }
}
