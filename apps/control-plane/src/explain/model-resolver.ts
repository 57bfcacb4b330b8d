import type { HashKey } from '@weir/dns-name';
import {
  EDNS_UDP_BYTES,
  formatName,
  HEADER_BYTES,
  parseQuery,
  Query,
  writeForwardedAnswer,
  writeRecordsAnswer,
} from '@weir/dns-wire';
import type { Configuration } from '@weir/ops';
import { type Client, type Policy, Verdict } from '@weir/policy';
import {
  Action,
  type AskedQuery,
  BlockErrors,
  BlockPages,
  DecidedQuery,
  DISCOVERY_ZONES,
  LOCAL_ZONES,
  LocalAnswers,
  LocalRecords,
  OwnAnswers,
  QueryDecider,
  READINESS_ZONES,
  ServerInformation,
  Special,
  SpecialNameTable,
  TargetInspector,
} from '@weir/policy/answers';
import type { ANSWER_VARIABLES } from '@weir/policy-feed/state';
import type { DnsAnswerDto, ExplanationDto } from './explain.dto.js';
import { encodeQuery, readAnswer } from './messages.js';

/** What a resolver does with a query. */
export interface QueryOutcome {
  readonly verdict: ExplanationDto['verdict'];
  /** The special name that decided. Null: the policy decided. */
  readonly special: string | null;
  /** The wire name that safe search sends the name to; null: nowhere. */
  readonly rewrite: Uint8Array | null;
  /** The wire name that the verdict is about: the queried one, or one that the answer leads to, if that is denied. */
  readonly judged: Uint8Array;
  readonly areTargetsJudged: boolean;
  /** Null: it comes from an upstream. */
  readonly answer: DnsAnswerDto | null;
}

export interface ModelQuery {
  readonly client: Client;
  /** A wire name. */
  readonly name: Uint8Array;
  /** The wire name of an alias that an upstream's answer leads to; null: none is known. */
  readonly target: Uint8Array | null;
  readonly qtype: number;
  readonly atMs: number;
}

const ANSWER_BYTES = 4096;

/**
 * Decides and answers one query by the code and the variables of resolvers, without an upstream. What resolvers have in
 * files (LOCAL_RECORDS, DNS_ALLOWED_CLIENTS_FILE), and designated resolvers, are not known here.
 */
export class ModelResolver {
  private readonly source: { policy: Policy | null } = { policy: null };
  private nowMs = 0;
  private readonly targetInspector: TargetInspector;
  private readonly discoveryNames: SpecialNameTable;
  private readonly decider: QueryDecider;
  private readonly ownAnswers: OwnAnswers;
  private readonly localAnswers = new LocalAnswers();
  private readonly out = new Uint8Array(ANSWER_BYTES);

  constructor(
    configuration: Configuration<typeof ANSWER_VARIABLES>,
    private readonly hashKey: HashKey,
  ) {
    const { source } = this;
    const { INSPECT_CNAME: isEnabled } = configuration;
    this.targetInspector = new TargetInspector({ source, isEnabled });
    this.discoveryNames = new SpecialNameTable(
      hashKey,
      configuration.BLOCK_RESOLVER_DISCOVERY ? DISCOVERY_ZONES : [],
    );
    this.decider = new QueryDecider({
      source,
      allowedClients: configuration.DNS_ALLOWED_CLIENTS,
      nowMs: () => this.nowMs,
      discoveryNames: this.discoveryNames,
      localNames: new SpecialNameTable(hashKey, [
        ...READINESS_ZONES,
        ...(configuration.LOCAL_ZONES ? LOCAL_ZONES : []),
      ]),
      localRecords: { value: LocalRecords.none },
      targetInspector: this.targetInspector,
      rewriteTtlSeconds: configuration.BLOCK_TTL,
      serverInformation: new ServerInformation({ infoUrl: configuration.RESOLVER_INFO_URL }),
      isReady: () => true,
    });
    this.ownAnswers = new OwnAnswers({
      pages: new BlockPages(
        [...configuration.BLOCK_PAGE_IPV4, ...configuration.BLOCK_PAGE_IPV6],
        configuration.BLOCK_PAGE_ADDRESSES,
      ),
      ordersPageId: configuration.ORDERS_PAGE ?? -1,
      blockErrors: new BlockErrors({
        source,
        hasText: configuration.BLOCK_EDE_TEXT,
        provider: { name: undefined, contacts: [] },
      }),
      blockTtlSeconds: configuration.BLOCK_TTL,
      designatedResolvers: [],
    });
  }

  ask(policy: Policy, { client, name, target, qtype, atMs }: ModelQuery): QueryOutcome {
    const bytes = encodeQuery(name, qtype);
    const query = new Query();
    parseQuery(bytes, bytes.length, query);
    this.source.policy = policy;
    this.nowMs = atMs;
    const asked = { bytes, query, client, nameHashLow: 0, nameHashHigh: 0 };
    const decided = new DecidedQuery(this.hashKey);
    const action = this.decider.decide(asked, decided);
    if (target !== null && (action === Action.resolve || action === Action.rewrite)) {
      if (this.targetInspector.blocks(decided, target)) {
        return { ...this.outcomeOf(Action.block, asked, decided, name), judged: target };
      }
    }
    return this.outcomeOf(action, asked, decided, name);
  }

  private outcomeOf(
    action: Action,
    asked: AskedQuery,
    decided: DecidedQuery,
    name: Uint8Array,
  ): QueryOutcome {
    const answer = this.answerTo(action, asked, decided);
    const plain = { special: null, rewrite: null, judged: name, areTargetsJudged: false, answer };
    if (action === Action.refuse) return { ...plain, verdict: 'refused' };
    const { special, zoneOffset } = decided.special;
    if (action === Action.answerServer) {
      return { ...plain, verdict: 'allow', special: formatName(asked.bytes, HEADER_BYTES) };
    }
    if (
      action === Action.answerSpecial ||
      (action === Action.answerAny && special !== Special.none)
    ) {
      const isDiscovery = this.discoveryNames.find(decided.hashes) !== Special.none;
      const verdict = isDiscovery ? 'deny' : 'allow';
      return { ...plain, verdict, special: formatName(asked.bytes, zoneOffset) };
    }
    const rewrite = decided.localName?.rewrite?.target ?? null;
    if (action === Action.block) {
      return { ...plain, verdict: 'deny', rewrite, judged: rewrite ?? name };
    }
    const verdict = decided.decision.verdict === Verdict.permit ? 'allow' : 'unfiltered';
    const areTargetsJudged = answer === null && this.targetInspector.hasSay(decided);
    return { ...plain, verdict, rewrite, areTargetsJudged };
  }

  private answerTo(
    action: Action,
    asked: AskedQuery,
    { decision, special, localName, serverRecords }: DecidedQuery,
  ): DnsAnswerDto | null {
    const { out, ownAnswers } = this;
    switch (action) {
      case Action.refuse:
        return readAnswer(out, ownAnswers.writeRefusal(out, asked));
      case Action.block:
        return readAnswer(out, ownAnswers.writeBlock(out, asked, decision, EDNS_UDP_BYTES));
      case Action.answerAny:
        return readAnswer(out, ownAnswers.writeAny(out, asked, decision));
      case Action.answerSpecial: {
        const limit = EDNS_UDP_BYTES;
        const length = ownAnswers.writeSpecial(out, asked, special, decision, limit);
        return readAnswer(out, length);
      }
      case Action.answerServer: {
        if (serverRecords === null) throw new Error('an answer about a resolver without records');
        const { rdatas, ttlSeconds } = serverRecords;
        const { bytes, query } = asked;
        const limit = EDNS_UDP_BYTES;
        return readAnswer(out, writeRecordsAnswer(out, bytes, query, rdatas, ttlSeconds, limit));
      }
      case Action.answerLocal: {
        if (localName === null) throw new Error('an answer for a name without local records');
        const response = this.localAnswers.answer(asked, localName);
        const { bytes, query } = asked;
        const ttl = decision.ttlCapSeconds;
        const limit = EDNS_UDP_BYTES;
        return readAnswer(
          out,
          writeForwardedAnswer(out, response, bytes, query, limit, ttl, false),
        );
      }
      default:
        return null;
    }
  }
}
