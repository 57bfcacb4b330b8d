import type { SuffixHashes } from '@weir/dns-name';
import { type Query, Type } from '@weir/dns-wire';
import { type Decision, isOfOrders, Verdict } from '../decision.js';
import type { LocalName, Rewrite, LocalRecords } from './local-records.js';
import type { AskedQuery } from './asked-query.js';
import type { ServerInformation, ServerRecords } from './server-information.js';
import { SpecialMatch, type SpecialNameTable, Special } from './special-names.js';
import { Access, type PolicyLookup } from './policy-lookup.js';
import type { TargetInspector } from './target-inspector.js';

/** What to do with a query. */
export const Action = {
  /** REFUSED: the client is not served here, or the question is not one that is answered here. */
  refuse: 0,
  /**
   * SERVFAIL: there is no configuration yet, and no client is served unfiltered because of that. Also the answer to a
   * health check while the resolver is not ready.
   */
  notReady: 1,
  block: 2,
  /** The minimal answer to ANY. */
  answerAny: 3,
  /** A special name, which is answered here. `SpecialMatch` describes it. */
  answerSpecial: 4,
  /** Permitted: answer from the cache or ask an upstream. */
  resolve: 5,
  /** Records about this server. */
  answerServer: 6,
  /** A name with local records, which are the whole answer. */
  answerLocal: 7,
  /** The name leads to another one, which is permitted: resolve that. */
  rewrite: 8,
} as const;
export type Action = (typeof Action)[keyof typeof Action];

/**
 * A name that has only a CNAME record, to where a blocked category sends it (decisions §7). Reused; allocates nothing.
 */
class PolicyRewrite {
  private readonly rdatas: Uint8Array[] = [new Uint8Array(0)];
  private readonly link: { owner: null; ttlSeconds: number; target: Uint8Array };
  private readonly rewrite: { links: LinkList; target: Uint8Array; end: null };
  private readonly name: LocalName;

  constructor(ttlSeconds: number) {
    const [target] = this.rdatas;
    this.link = { owner: null, ttlSeconds, target };
    this.rewrite = { links: [this.link], target, end: null };
    const sets = [{ type: Type.cname, ttlSeconds, rdatas: this.rdatas }];
    this.name = { sets, negativeTtlSeconds: ttlSeconds, rewrite: this.rewrite };
  }

  /** The name with that target; valid until the next call. */
  to(target: Uint8Array): LocalName {
    this.rdatas[0] = target;
    this.link.target = target;
    this.rewrite.target = target;
    return this.name;
  }
}

type LinkList = NonNullable<LocalName['rewrite']>['links'];

export interface QueryDeciderOptions {
  readonly policyLookup: PolicyLookup;
  /** Names by which clients look for another resolver. They are answered here whatever the policy says. */
  readonly discoveryNames: SpecialNameTable;
  /** Names that are answered here when the policy permits them. */
  readonly localNames: SpecialNameTable;
  /** Records of the operator. They come before the policy, but it judges where they lead to. */
  readonly localRecords: { readonly value: LocalRecords };
  readonly targetInspector: Pick<TargetInspector, 'blocks'>;
  /** TTL of the CNAME record by which a blocked category rewrites a name. */
  readonly rewriteTtlSeconds: number;
  readonly serverInformation: ServerInformation;
  /** Whether the resolver is ready, for health checks that ask for the readiness name. */
  readonly isReady: () => boolean;
}

/** Decides what to do with a query. Allocates nothing. */
export class QueryDecider {
  /** What the policy says about the last query. */
  readonly decision: Decision;
  /** After `Action.answerSpecial`: the special name. */
  readonly specialMatch = new SpecialMatch();
  /** After `Action.answerServer`: the records. Otherwise null. */
  serverRecords: ServerRecords | null = null;
  /** After `Action.answerLocal`: the name with its records, or with the CNAME record of a category. */
  localName: LocalName | null = null;
  /** After `Action.rewrite`: where the name leads to. Otherwise null. */
  rewrite: Rewrite | null = null;
  private readonly policyLookup: PolicyLookup;
  private readonly policyRewrite: PolicyRewrite;

  constructor(private readonly options: QueryDeciderOptions) {
    this.policyLookup = options.policyLookup;
    this.policyRewrite = new PolicyRewrite(options.rewriteTtlSeconds);
    this.decision = options.policyLookup.decision;
  }

  /** Hashes of the suffixes of the qname, after `Action.resolve`; of the target, after `Action.rewrite`. */
  get hashes(): SuffixHashes {
    return this.policyLookup.hashes;
  }

  /**
   * The order of the checks is that of decisions §7, §8 and §9: first clients that are refused, then names that no
   * policy answers, then the filter, then questions that are not for an upstream. Sets the exchange's name hash.
   */
  decide(exchange: AskedQuery): Action {
    const { policyLookup, specialMatch, options } = this;
    this.rewrite = null;
    this.serverRecords = options.serverInformation.find(exchange.bytes, exchange.query);
    const isAboutServer = this.serverRecords !== null;
    const access = policyLookup.lookUp(exchange, isAboutServer);
    if (access === Access.refused) return Action.refuse;
    if (access === Access.notReady) return Action.notReady;
    if (isAboutServer) {
      policyLookup.overrule();
      return Action.answerServer;
    }
    const { bytes, query } = exchange;
    if (specialMatch.find(options.discoveryNames, bytes, policyLookup.hashes)) {
      policyLookup.overrule();
      return Action.answerSpecial;
    }
    this.localName = options.localRecords.value.find(policyLookup.hashes);
    if (this.localName !== null) {
      policyLookup.overrule();
      return this.decideRecords(this.localName, query);
    }
    const isBlocked = this.decision.verdict === Verdict.block;
    if (isBlocked && !isOfOrders(this.decision.reason)) return Action.block;
    if (this.decision.rewrite !== null) {
      this.localName = this.policyRewrite.to(this.decision.rewrite.target);
      return this.decideRecords(this.localName, query);
    }
    const isLocal = specialMatch.find(options.localNames, bytes, policyLookup.hashes);
    if (isBlocked && !isLocal) return Action.block;
    // Orders come after the resolver's own names (decisions §14).
    if (isBlocked) policyLookup.overrule();
    if (isLocal) return this.decideLocal(query.qtype);
    return query.qtype === Type.any ? Action.answerAny : Action.resolve;
  }

  private decideRecords(name: LocalName, { qtype, recursionDesired }: Query): Action {
    if (qtype === Type.any) return Action.answerAny;
    const { rewrite } = name;
    const leadsOut = rewrite !== null && rewrite.end === null && qtype !== Type.cname;
    // Without RD, the client gets what is known here (decisions §9).
    return leadsOut && recursionDesired ? this.decideRewrite(rewrite) : Action.answerLocal;
  }

  /** The target is judged as it would be in the answer of an upstream. */
  private decideRewrite(rewrite: Rewrite): Action {
    const { hashes } = this.policyLookup;
    hashes.compute(rewrite.target, 0);
    if (this.options.targetInspector.blocks(hashes)) return Action.block;
    this.rewrite = rewrite;
    return Action.rewrite;
  }

  private decideLocal(qtype: number): Action {
    const { specialMatch, options } = this;
    // A name above local records exists (RFC 8020 §2).
    if (!specialMatch.nameExists && options.localRecords.value.isAbove(this.hashes)) {
      specialMatch.special = Special.empty;
    }
    if (qtype === Type.ds && specialMatch.isZoneApex) return Action.resolve;
    // The minimal answer to ANY says that the name exists.
    if (qtype === Type.any && specialMatch.nameExists) return Action.answerAny;
    if (specialMatch.special !== Special.ready || options.isReady()) {
      return Action.answerSpecial;
    }
    this.policyLookup.clear();
    return Action.notReady;
  }
}
