import type { Operation, PutOperation } from '@weir/config-model';
import { type HashKey, SuffixHashes } from '@weir/dns-name';
import {
  EDNS_UDP_BYTES,
  formatName,
  HEADER_BYTES,
  parseQuery,
  Query,
  writeForwardedAnswer,
} from '@weir/dns-wire';
import type { Configuration } from '@weir/ops';
import { type CatalogueIndex, type Client, type Explanation, Policy, Verdict } from '@weir/policy';
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
  /** How the policy judges `judged`. */
  readonly explanation: Explanation;
  readonly verdict: ExplanationDto['verdict'];
  /** The special name that decided. Null: the policy decided. */
  readonly special: string | null;
  /** The wire name that safe search sends the name to; null: nowhere. */
  readonly rewrite: Uint8Array | null;
  /** The wire name that the verdict is about: the queried one, or one that the answer leads to, if that is denied. */
  readonly judged: Uint8Array;
  /** Of `judged`. */
  readonly hashes: SuffixHashes;
  readonly areTargetsJudged: boolean;
  /** Null: it comes from an upstream. */
  readonly answer: DnsAnswerDto | null;
}

type Decided = Omit<QueryOutcome, 'explanation' | 'hashes'>;

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

/** A policy remembers the ids of profiles that it had. */
const MAX_USES = 10_000;

/**
 * Decides and answers one query by the code and the variables of resolvers, without an upstream. What resolvers have in
 * files (LOCAL_RECORDS, DNS_ALLOWED_CLIENTS_FILE), and designated resolvers, are not known here.
 *
 * Making a policy takes milliseconds, so it is made once, and is empty between two questions.
 */
export class ModelResolver {
  private readonly source: { policy: Policy | null } = { policy: null };
  private emptyPolicy: Policy | null = null;
  private uses = 0;
  private nowMs = 0;
  private readonly timeZone: string;
  private readonly targetInspector: TargetInspector;
  private readonly discoveryNames: SpecialNameTable;
  private readonly decider: QueryDecider;
  private readonly ownAnswers: OwnAnswers;
  private readonly localAnswers = new LocalAnswers();
  private readonly out = new Uint8Array(ANSWER_BYTES);

  constructor(
    configuration: Configuration<typeof ANSWER_VARIABLES> & { readonly SCHEDULE_TIMEZONE: string },
    private readonly hashKey: HashKey,
  ) {
    const { source } = this;
    this.timeZone = configuration.SCHEDULE_TIMEZONE;
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

  /** @param entities all that the resolver has: those that decide about the client. */
  ask(
    entities: readonly PutOperation[],
    catalogue: CatalogueIndex | null,
    asking: ModelQuery,
  ): QueryOutcome {
    const policy = this.emptyPolicy ?? new Policy({ timeZone: this.timeZone });
    // If anything below fails, the next question gets a new one.
    this.emptyPolicy = null;
    this.source.policy = policy;
    policy.setCatalogue(catalogue);
    for (const entity of entities) policy.put(entity);
    const outcome = this.decide(asking);
    const hashes = new SuffixHashes(this.hashKey);
    hashes.compute(outcome.judged, 0);
    const explanation = policy.explain(asking.client, hashes, asking.atMs);
    const operations = entities.map(
      ({ kind, entity }) => ({ type: 'delete', kind, key: entity }) as Operation,
    );
    policy.apply({ revision: 0, digest: '', operations });
    policy.setCatalogue(null);
    this.uses = (this.uses + 1) % MAX_USES;
    this.emptyPolicy = this.uses === 0 ? null : policy;
    return { ...outcome, hashes, explanation };
  }

  private decide({ client, name, target, qtype, atMs }: ModelQuery): Decided {
    const bytes = encodeQuery(name, qtype);
    const query = new Query();
    parseQuery(bytes, bytes.length, query);
    this.nowMs = atMs;
    const asked = { bytes, query, client, nameHashLow: 0, nameHashHigh: 0 };
    const decided = new DecidedQuery(this.hashKey);
    const action = this.decider.decide(asked, decided);
    if (target !== null && (action === Action.resolve || action === Action.resolveTarget)) {
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
  ): Decided {
    const length = this.writeAnswer(action, asked, decided);
    const answer = length === null ? null : readAnswer(this.out, length);
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
    const rewrite = decided.localName?.chain?.target ?? null;
    if (action === Action.block) {
      return { ...plain, verdict: 'deny', rewrite, judged: rewrite ?? name };
    }
    const verdict = decided.decision.verdict === Verdict.permit ? 'allow' : 'unfiltered';
    const areTargetsJudged = answer === null && this.targetInspector.hasSay(decided);
    return { ...plain, verdict, rewrite, areTargetsJudged };
  }

  /** @returns the length; null: the answer comes from an upstream. */
  private writeAnswer(
    action: Action,
    asked: AskedQuery,
    { decision, special, localName, serverRecords }: DecidedQuery,
  ): number | null {
    const { out, ownAnswers } = this;
    const { bytes, query } = asked;
    const limit = EDNS_UDP_BYTES;
    switch (action) {
      case Action.refuse:
        return ownAnswers.writeRefusal(out, asked);
      case Action.block:
        return ownAnswers.writeBlock(out, asked, decision, limit);
      case Action.answerAny:
        return ownAnswers.writeAny(out, asked, decision);
      case Action.answerSpecial:
        return ownAnswers.writeSpecial(out, asked, special, decision, limit);
      case Action.answerServer: {
        if (serverRecords === null) throw new Error('an answer about a resolver without records');
        return ownAnswers.writeServer(out, asked, serverRecords, decision, limit);
      }
      case Action.answerLocal: {
        if (localName === null) throw new Error('an answer for a name without local records');
        const response = this.localAnswers.answer(asked, localName, special);
        const { ttlCapSeconds } = decision;
        return writeForwardedAnswer(out, response, bytes, query, limit, ttlCapSeconds, false);
      }
      default:
        return null;
    }
  }
}
