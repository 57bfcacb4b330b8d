import { CLASS_IN, HEADER_BYTES, type Query, Type } from '@weir/dns-wire';
import type { Client } from '../client-address.js';
import { type Decision, isOfOrders, Reason, Verdict } from '../decision.js';
import type { PolicySource } from '../policy-reader.js';
import { Action, type AskedQuery, type DecidedQuery } from './decided-query.js';
import type { LocalName, LocalRecords, CnameChain } from './local-records.js';
import type { ServerInformation } from './server-information.js';
import { Special, type SpecialNameTable } from './special-names.js';
import type { TargetInspector } from './target-inspector.js';

/** A name that has only a CNAME record, to where a category sends it (decisions §7). Reused; allocates nothing. */
class SafeSearchName {
  private readonly rdatas: Uint8Array[] = [new Uint8Array(0)];
  private readonly link: { owner: null; ttlSeconds: number; target: Uint8Array };
  private readonly chain: { links: LinkList; target: Uint8Array; end: null };
  private readonly name: LocalName;

  constructor(ttlSeconds: number) {
    const [target] = this.rdatas;
    this.link = { owner: null, ttlSeconds, target };
    this.chain = { links: [this.link], target, end: null };
    const sets = [{ type: Type.cname, ttlSeconds, rdatas: this.rdatas }];
    this.name = { sets, negativeTtlSeconds: ttlSeconds, chain: this.chain };
  }

  /** The name with that target; valid until the next call. */
  to(target: Uint8Array): LocalName {
    this.rdatas[0] = target;
    this.link.target = target;
    this.chain.target = target;
    return this.name;
  }
}

type LinkList = NonNullable<LocalName['chain']>['links'];

export interface QueryDeciderOptions {
  readonly source: PolicySource;
  /** Clients that are served without a profile. */
  readonly allowedClients: { has(client: Client): boolean };
  /** Wall clock in milliseconds: schedules follow it. */
  readonly nowMs: () => number;
  /** Names by which clients look for another resolver. They are answered here whatever the policy says. */
  readonly discoveryNames: SpecialNameTable;
  /** Names that are answered here when the policy permits them. */
  readonly localNames: SpecialNameTable;
  /** Records of the operator. They come before the policy, but it judges where they lead to. */
  readonly localRecords: { readonly value: LocalRecords };
  readonly targetInspector: TargetInspector;
  /** TTL of the CNAME record by which a blocked category rewrites a name. */
  readonly rewriteTtlSeconds: number;
  readonly serverInformation: ServerInformation;
  /** Whether the resolver is ready, for health checks that ask for the readiness name. */
  readonly isReady: () => boolean;
}

/** Decides what to do with a query. Allocates nothing. */
export class QueryDecider {
  private readonly safeSearchName: SafeSearchName;

  constructor(private readonly options: QueryDeciderOptions) {
    this.safeSearchName = new SafeSearchName(options.rewriteTtlSeconds);
  }

  /**
   * The order of the checks is that of decisions §7, §8 and §9: first clients that are refused, then names that no
   * policy answers, then the filter, then questions that are not for an upstream. Sets the name hash of the query.
   * @param out gets what belongs to the action
   */
  decide(asked: AskedQuery, out: DecidedQuery): Action {
    const { options } = this;
    const { bytes, query } = asked;
    const { decision, special, hashes } = out;
    out.chain = null;
    out.serverRecords = options.serverInformation.find(bytes, query);
    const refusal = this.lookUp(asked, out);
    if (refusal !== null) return refusal;
    if (out.serverRecords !== null) {
      out.overrule();
      return Action.answerServer;
    }
    if (special.find(options.discoveryNames, bytes, hashes)) {
      out.overrule();
      const hasRecords =
        special.special === Special.designated && special.zoneOffset === HEADER_BYTES;
      return hasRecords && query.qtype === Type.any ? Action.answerAny : Action.answerSpecial;
    }
    out.localName = options.localRecords.value.find(hashes);
    if (out.localName !== null) {
      out.overrule();
      return this.decideRecords(out.localName, query, out);
    }
    const isBlocked = decision.verdict === Verdict.block;
    if (isBlocked && !isOfOrders(decision.reason)) return Action.block;
    if (decision.rewrite !== null) {
      out.localName = this.safeSearchName.to(decision.rewrite.target);
      return this.decideRecords(out.localName, query, out);
    }
    const isLocal = special.find(options.localNames, bytes, hashes);
    if (isBlocked && !isLocal) return Action.block;
    // Orders come after the resolver's own names (decisions §14).
    if (isBlocked) out.overrule();
    if (isLocal) return this.decideLocal(query.qtype, out);
    return query.qtype === Type.any ? Action.answerAny : Action.resolve;
  }

  /** What the policy says about client and qname (decisions §7). @returns how it is refused; null: it is served */
  private lookUp(asked: AskedQuery, out: DecidedQuery): Action | null {
    const { bytes, query, client } = asked;
    const { decision, hashes } = out;
    asked.nameHashLow = 0;
    asked.nameHashHigh = 0;
    const isOtherClass = query.qclass !== CLASS_IN && out.serverRecords === null;
    const { policy } = this.options.source;
    if (isOtherClass || policy === null) {
      out.clear();
      return isOtherClass ? Action.refuse : Action.notReady;
    }
    const labels = hashes.compute(bytes, HEADER_BYTES);
    if (labels > 0) {
      asked.nameHashLow = hashes.low[labels - 1] | 0;
      asked.nameHashHigh = hashes.high[labels - 1] | 0;
    }
    policy.identify(client, this.options.nowMs(), decision);
    if (!this.isServed(client, decision)) {
      out.clear();
      if (decision.isOutsideRanges) decision.reason = Reason.outsideRanges;
      return Action.refuse;
    }
    policy.judge(hashes, decision);
    return null;
  }

  /** An address with NAPT ranges has subscribers, and is never unfiltered (decisions §7). */
  private isServed(client: Client, { profileId, isOutsideRanges }: Decision): boolean {
    return profileId >= 0 || (!isOutsideRanges && this.options.allowedClients.has(client));
  }

  private decideRecords(
    { chain }: LocalName,
    { qtype, recursionDesired }: Query,
    out: DecidedQuery,
  ): Action {
    if (qtype === Type.any) return Action.answerAny;
    const leadsOut = chain !== null && chain.end === null && qtype !== Type.cname;
    // Without RD, the client gets what is known here (decisions §9).
    return leadsOut && recursionDesired ? this.decideTarget(chain, out) : Action.answerLocal;
  }

  /** The target is judged as it would be in the answer of an upstream. A special name is answered here. */
  private decideTarget(chain: CnameChain, out: DecidedQuery): Action {
    const { targetInspector, localNames, discoveryNames } = this.options;
    if (targetInspector.blocks(out, chain.target)) return Action.block;
    const { special, hashes } = out;
    const isSpecial =
      special.find(discoveryNames, chain.target, hashes, 0) ||
      special.find(localNames, chain.target, hashes, 0);
    if (isSpecial) return Action.answerLocal;
    out.chain = chain;
    return Action.resolveTarget;
  }

  private decideLocal(qtype: number, out: DecidedQuery): Action {
    const { options } = this;
    const { special } = out;
    // A name above local records exists (RFC 8020 §2).
    if (!special.nameExists && options.localRecords.value.isAbove(out.hashes)) {
      special.special = Special.empty;
    }
    if (qtype === Type.ds && special.isZoneApex) return Action.resolve;
    // The minimal answer to ANY says that the name exists.
    if (qtype === Type.any && special.nameExists) return Action.answerAny;
    if (special.special !== Special.ready || options.isReady()) return Action.answerSpecial;
    out.clear();
    return Action.notReady;
  }
}
