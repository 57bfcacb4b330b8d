import { type Response, ResponseBuilder, Type } from '@weir/dns-wire';
import type { AskedMessage } from './decided-query.js';
import { findSet, type LocalName, type CnameChain } from './local-records.js';
import { loopbackOf, Special, SPECIAL_TTL_SECONDS, type SpecialMatch } from './special-names.js';

/** Makes responses from local records. Each is valid until the next one. Allocates nothing. */
export class LocalAnswers {
  private readonly builder = new ResponseBuilder();

  /** All that is known here for the question. @param target the special name that the target is, if it is one */
  answer({ bytes, query }: AskedMessage, name: LocalName, target: SpecialMatch): Response {
    this.builder.start(bytes, query);
    const { chain } = name;
    if (chain === null || query.qtype === Type.cname) {
      this.addSet(null, name, query.qtype);
    } else {
      this.addLinks(chain);
      if (chain.end !== null) this.addSet(chain.target, chain.end, query.qtype);
      else if (target.special !== Special.none) this.addSpecial(chain.target, target, query.qtype);
    }
    return this.builder.response;
  }

  /** The records that lead to the target, and the response for it. Null: that is malformed, or does not fit. */
  answerByTarget(
    { bytes, query }: AskedMessage,
    chain: CnameChain,
    response: Response,
  ): Response | null {
    this.builder.start(bytes, query);
    this.addLinks(chain);
    return this.builder.append(response) ? this.builder.response : null;
  }

  private addLinks({ links }: CnameChain): void {
    for (let i = 0; i < links.length; i++) {
      const { owner, ttlSeconds, target } = links[i];
      this.builder.addAnswer(owner, Type.cname, ttlSeconds, target);
    }
  }

  /** The address of this machine, or the SOA record that says that there is none, or no such name. */
  private addSpecial(name: Uint8Array, match: SpecialMatch, type: number): void {
    const address = match.special === Special.localhost ? loopbackOf(type) : null;
    if (address !== null) this.builder.addAnswer(name, type, SPECIAL_TTL_SECONDS, address);
    else this.builder.addSoa(name.subarray(match.zoneOffset), SPECIAL_TTL_SECONDS);
    const exists = match.special !== Special.nonexistent;
    const isBelowZone = match.special === Special.emptyZone && match.zoneOffset > 0;
    if (!exists || isBelowZone) this.builder.setNoName();
  }

  /** The records of that type, or the SOA record that says that there are none. */
  private addSet(owner: Uint8Array | null, name: LocalName, type: number): void {
    const set = findSet(name, type);
    if (set === null) {
      this.builder.addSoa(owner, name.negativeTtlSeconds);
      return;
    }
    for (let i = 0; i < set.rdatas.length; i++) {
      this.builder.addAnswer(owner, type, set.ttlSeconds, set.rdatas[i]);
    }
  }
}
