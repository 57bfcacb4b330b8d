import type { SuffixHashes } from '@weir/dns-name';
import { Type } from '@weir/dns-wire';
import { type Decision, Verdict } from '@weir/policy';
import type { Exchange } from '../query/exchange.js';
import type { ServerIdentity } from '../special/server-identity.js';
import { SpecialMatch } from '../special/special-match.js';
import type { SpecialNameTable } from '../special/special-name-table.js';
import { Special } from '../special/special-names.js';
import { Action } from './action.js';
import { Access, type PolicyLookup } from './policy-lookup.js';

export interface QueryDeciderOptions {
  readonly policyLookup: PolicyLookup;
  /** Names by which clients look for another resolver. They are answered here whatever the policy says. */
  readonly discoveryNames: SpecialNameTable;
  /** Names that are answered here when the policy permits them. */
  readonly localNames: SpecialNameTable;
  readonly serverIdentity: ServerIdentity;
  /** Whether the resolver is ready, for health checks that ask for the readiness name. */
  readonly isReady: () => boolean;
}

/** Decides what to do with a query. Allocates nothing. */
export class QueryDecider {
  /** What the policy says about the last query. */
  readonly decision: Decision;
  /** After `Action.answerSpecial`: the special name. */
  readonly specialMatch = new SpecialMatch();
  private readonly policyLookup: PolicyLookup;
  private readonly discoveryNames: SpecialNameTable;
  private readonly localNames: SpecialNameTable;
  private readonly serverIdentity: ServerIdentity;
  private readonly isReady: () => boolean;

  constructor(options: QueryDeciderOptions) {
    const { policyLookup, discoveryNames, localNames, serverIdentity, isReady } = options;
    this.policyLookup = policyLookup;
    this.decision = policyLookup.decision;
    this.discoveryNames = discoveryNames;
    this.localNames = localNames;
    this.serverIdentity = serverIdentity;
    this.isReady = isReady;
  }

  /** Hashes of the suffixes of the qname, after `Action.resolve`. */
  get hashes(): SuffixHashes {
    return this.policyLookup.hashes;
  }

  /**
   * The order of the checks is that of decisions §7, §8 and §9: first clients that are refused, then names that no
   * policy answers, then the filter, then questions that are not for an upstream. Sets the exchange's name hash.
   */
  decide(exchange: Exchange): Action {
    const { policyLookup, specialMatch } = this;
    const isIdentity = this.serverIdentity.isAsked(exchange.bytes, exchange.query);
    const access = policyLookup.lookUp(exchange, isIdentity);
    if (access === Access.refused) return Action.refuse;
    if (access === Access.notReady) return Action.notReady;
    if (isIdentity) {
      policyLookup.overrule();
      return Action.answerIdentity;
    }
    const { bytes, query } = exchange;
    if (specialMatch.find(this.discoveryNames, bytes, policyLookup.hashes)) {
      policyLookup.overrule();
      return Action.answerSpecial;
    }
    if (this.decision.verdict === Verdict.block) return Action.block;
    const isLocal = specialMatch.find(this.localNames, bytes, policyLookup.hashes);
    if (isLocal) return this.decideLocal(query.qtype);
    return query.qtype === Type.any ? Action.answerAny : Action.resolve;
  }

  private decideLocal(qtype: number): Action {
    if (qtype === Type.ds && this.specialMatch.isZoneApex) return Action.resolve;
    // The minimal answer to ANY says that the name exists.
    if (qtype === Type.any && this.specialMatch.nameExists) return Action.answerAny;
    if (this.specialMatch.special !== Special.ready || this.isReady()) {
      return Action.answerSpecial;
    }
    this.policyLookup.clear();
    return Action.notReady;
  }
}
