import { AnswerChain, ChainStatus } from './answer-chain.js';
import { RecordRemoval } from './copied-records.js';
import { Type } from './protocol.js';
import { type Response, typeOfRecord } from './response.js';

/**
 * Removes from the response of an upstream what does not answer its question: records of the answer section that are
 * outside of its chain, and all of the authority section but name servers, SOA and proofs. Nobody judges these names.
 * Reused; allocates nothing.
 */
export class Scrubber {
  private readonly chain = new AnswerChain();
  private readonly removal = new RecordRemoval();

  /**
   * @returns the response itself when all of it belongs there, or when its chain is malformed or too long, which
   *   whoever judges its targets finds too; else a copy, valid until the next call; null when the rest is malformed or
   *   too large
   */
  scrub(response: Response): Response | null {
    if (this.chain.walk(response) !== ChainStatus.whole) return response;
    const { answerCount, authorityCount, ttlCount } = response;
    const { isRemoved } = this.removal;
    let removed = this.chain.strayCount;
    for (let i = answerCount; i < answerCount + authorityCount; i++) {
      if (!isOfAuthority(typeOfRecord(response, i))) removed++;
    }
    if (removed === 0) return response;
    for (let i = 0; i < ttlCount; i++) {
      const isAnswer = i < answerCount;
      const isAdditional = i >= answerCount + authorityCount;
      const stays = isAnswer
        ? this.chain.isMember[i] === 1
        : isAdditional || isOfAuthority(typeOfRecord(response, i));
      isRemoved[i] = stays ? 0 : 1;
    }
    return this.removal.copy(response);
  }
}

/** Whether a record of that type in the authority section says who is responsible, or that something does not exist. */
function isOfAuthority(type: number): boolean {
  switch (type) {
    case Type.ns:
    case Type.soa:
    case Type.ds:
    case Type.rrsig:
    case Type.nsec:
    case Type.nsec3:
      return true;
    default:
      return false;
  }
}
