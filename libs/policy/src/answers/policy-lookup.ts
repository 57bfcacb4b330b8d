import { type HashKey, SuffixHashes } from '@weir/dns-name';
import { CLASS_IN, HEADER_BYTES } from '@weir/dns-wire';
import type { Client } from '../client.js';
import { Decision, Reason, Verdict } from '../decision.js';
import type { PolicySource, QueryPolicy } from '../policy-source.js';
import type { AskedQuery } from './asked-query.js';

/** Whether a client is served. */
export const Access = {
  /** Not a client of this resolver, or a class that is not answered here. */
  refused: 0,
  /** There is no configuration yet. */
  notReady: 1,
  /** `decision` tells what the policy says. */
  served: 2,
} as const;
export type Access = (typeof Access)[keyof typeof Access];

export interface PolicyLookupOptions {
  readonly source: PolicySource<QueryPolicy>;
  readonly hashKey: HashKey;
  /** Clients that are served without a profile. */
  readonly allowedClients: { has(client: Client): boolean };
  /** Wall clock in milliseconds: schedules follow it. */
  readonly nowMs: () => number;
}

/** What the policy in force says about the client and the name of a query (decisions §7). Allocates nothing. */
export class PolicyLookup {
  /** The result of the last lookup. */
  readonly decision = new Decision();
  /** Hashes of the suffixes of the last name that was looked up. */
  readonly hashes: SuffixHashes;

  constructor(private readonly options: PolicyLookupOptions) {
    this.hashes = new SuffixHashes(options.hashKey);
  }

  /**
   * Decides about client and qname, and sets the exchange's hash of the qname.
   * @param anyClass whether the question is answered here although its class is not IN
   */
  lookUp(exchange: AskedQuery, anyClass = false): Access {
    const { bytes, query, client } = exchange;
    exchange.nameHashLow = 0;
    exchange.nameHashHigh = 0;
    if (query.qclass !== CLASS_IN && !anyClass) return this.withoutPolicy(Access.refused);
    const { policy } = this.options.source;
    if (policy === null) return this.withoutPolicy(Access.notReady);
    const { decision, hashes } = this;
    const labels = hashes.compute(bytes, HEADER_BYTES);
    if (labels > 0) {
      exchange.nameHashLow = hashes.low[labels - 1] | 0;
      exchange.nameHashHigh = hashes.high[labels - 1] | 0;
    }
    policy.identify(client, this.options.nowMs(), decision);
    if (!this.isServed(client)) {
      this.clear();
      if (decision.isOutsideRanges) decision.reason = Reason.outsideRanges;
      return Access.refused;
    }
    policy.judge(hashes, decision);
    return Access.served;
  }

  /** An address with NAPT ranges has subscribers, and is never unfiltered (decisions §7). */
  private isServed(client: Client): boolean {
    const { profileId, isOutsideRanges } = this.decision;
    return profileId >= 0 || (!isOutsideRanges && this.options.allowedClients.has(client));
  }

  /** Drops the verdict of the policy, which does not apply to this name. It is not counted either. */
  overrule(): void {
    const { decision } = this;
    const hasProfile = decision.profileId >= 0;
    decision.verdict = hasProfile ? Verdict.permit : Verdict.unfiltered;
    decision.reason = hasProfile ? Reason.none : Reason.noProfile;
  }

  /** Resets the decision for a query that is answered without the policy. */
  clear(): void {
    this.decision.profileId = -1;
    this.decision.verdict = Verdict.unfiltered;
    this.decision.reason = Reason.noProfile;
    this.decision.rewrite = null;
  }

  private withoutPolicy(access: Access): Access {
    this.clear();
    return access;
  }
}
