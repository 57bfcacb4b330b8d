import type { Response } from '@weir/dns-wire';

/** A copy of a response, for clients that get it after its packet is gone. Takes only the memory that it needs. */
export class KeptResponse {
  private readonly bytes: Uint8Array;
  private readonly ttlOffsets: Uint16Array;
  private readonly id: number;
  private readonly flags: number;
  private readonly rcode: number;
  private readonly questionEnd: number;
  private readonly answerCount: number;
  private readonly authorityCount: number;
  private readonly additionalCount: number;
  private readonly recordsEnd: number;
  private readonly ede: number;

  constructor(response: Response) {
    this.bytes = new Uint8Array(response.bytes.subarray(0, response.recordsEnd));
    this.ttlOffsets = response.ttlOffsets.slice(0, response.ttlCount);
    this.id = response.id;
    this.flags = response.flags;
    this.rcode = response.rcode;
    this.questionEnd = response.questionEnd;
    this.answerCount = response.answerCount;
    this.authorityCount = response.authorityCount;
    this.additionalCount = response.additionalCount;
    this.recordsEnd = response.recordsEnd;
    this.ede = response.ede;
  }

  /** Makes `out` the response that was kept; it refers to the bytes of the copy. */
  restore(out: Response): void {
    out.bytes = this.bytes;
    out.ttlOffsets.set(this.ttlOffsets);
    out.ttlCount = this.ttlOffsets.length;
    out.id = this.id;
    out.flags = this.flags;
    out.rcode = this.rcode;
    out.questionEnd = this.questionEnd;
    out.answerCount = this.answerCount;
    out.authorityCount = this.authorityCount;
    out.additionalCount = this.additionalCount;
    out.recordsEnd = this.recordsEnd;
    out.ede = this.ede;
  }
}
