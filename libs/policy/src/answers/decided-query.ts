import { type HashKey, SuffixHashes } from '@weir/dns-name';
import type { Query } from '@weir/dns-wire';
import type { Client } from '../client-address.js';
import { Decision, Reason, Verdict } from '../decision.js';
import type { LocalName, CnameChain } from './local-records.js';
import type { ServerRecords } from './server-information.js';
import { SpecialMatch } from './special-names.js';

export interface AskedQuery {
  /** The message that `query` was parsed from. */
  readonly bytes: Uint8Array;
  readonly query: Query;
  readonly client: Client;
  /** Keyed hash of the qname, two signed words, by `QueryDecider`. 0 for the root and for a class that is refused. */
  nameHashLow: number;
  nameHashHigh: number;
}

/** What an answer is made from. */
export type AskedMessage = Pick<AskedQuery, 'bytes' | 'query'>;

export const Action = {
  /** REFUSED: the client is not served here, or the question is not one that is answered here. */
  refuse: 0,
  /**
   * SERVFAIL: there is no configuration yet, and no client is served unfiltered because of that. Also the answer to a
   * health check while the resolver is not ready.
   */
  notReady: 1,
  block: 2,
  answerAny: 3,
  /** A special name, which is answered here: `DecidedQuery.special`. */
  answerSpecial: 4,
  /** Permitted: answer from the cache or ask an upstream. */
  resolve: 5,
  /** Records about this server: `DecidedQuery.serverRecords`. */
  answerServer: 6,
  /** A name with local records, which are the whole answer: `DecidedQuery.localName`. */
  answerLocal: 7,
  /** The name leads to another one, which is permitted: resolve that (`DecidedQuery.chain`). */
  resolveTarget: 8,
} as const;
export type Action = (typeof Action)[keyof typeof Action];

/** What was decided about a query. Whoever decides has one and reuses it, so that a query allocates nothing. */
export class DecidedQuery {
  readonly decision = new Decision();
  /** Of the suffixes of the qname; after `Action.resolveTarget`, of the target. */
  readonly hashes: SuffixHashes;
  /** After `Action.answerSpecial`: the special name. */
  readonly special = new SpecialMatch();
  /** After `Action.answerServer`: the records. Otherwise null. */
  serverRecords: ServerRecords | null = null;
  /** After `Action.answerLocal`: the name with its records, or with the CNAME record of a category. */
  localName: LocalName | null = null;
  /** After `Action.resolveTarget`: where the name leads to. Otherwise null. */
  chain: CnameChain | null = null;

  constructor(hashKey: HashKey) {
    this.hashes = new SuffixHashes(hashKey);
  }

  /** Drops the verdict of the policy, which does not apply to this name. It is not counted either. */
  overrule(): void {
    const { decision } = this;
    const hasProfile = decision.profileId >= 0;
    decision.verdict = hasProfile ? Verdict.permit : Verdict.unfiltered;
    decision.reason = hasProfile ? Reason.none : Reason.noProfile;
  }

  /** The query is answered without the policy. */
  clear(): void {
    const { decision } = this;
    decision.profileId = -1;
    decision.verdict = Verdict.unfiltered;
    decision.reason = Reason.noProfile;
    decision.rewrite = null;
  }
}
