import { type ClientAddress, type IncidentSeal, UNKNOWN_PORT } from '@weir/clients';
import { domainOrNull, type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { formatName } from '@weir/dns-wire';
import {
  Decision,
  MatchedBy,
  NO_TTL_CAP,
  type Policy,
  type PolicySource,
  Reason,
  SubscriberMatch,
  Verdict,
} from '@weir/policy';
import { isIP } from 'node:net';
import {
  type BlockReason,
  isForEverybody,
  type NextSwitch,
  type PageSubject,
} from '../page/subject.js';
import type { CnameTargets } from './cname-targets.js';

/** Longer than any spelling of a name (253 octets, RFC 1035 §3.1) with a port. */
const MAX_HOST_LENGTH = 300;

/**
 * The name of the site that a request is for.
 * @param target request target: a path, or a whole URL, which overrides `host` (RFC 9112 §3.2.2)
 * @param host the Host header
 * @returns the name in normal form; null: the request has no name, an address or an invalid name
 */
export function requestedName(target: string, host: string | undefined): string | null {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? host ?? '';
  // Node decodes headers as Latin-1, but some programs send UTF-8.
  const name = Buffer.from(authority.replace(/:\d{0,5}$/, ''), 'latin1').toString();
  return name.length > MAX_HOST_LENGTH || isIP(name) !== 0 ? null : domainOrNull(name);
}

const MINUTE_MS = 60_000;

export interface RequestEvaluatorOptions {
  readonly source: PolicySource<Policy>;
  readonly hashKey: HashKey;
  /** Null: there is nobody to ask for CNAME targets. */
  readonly targets: CnameTargets | null;
  /** False: targets are judged by orders and mandatory categories alone (`INSPECT_CNAME`). */
  readonly isInspected: boolean;
  /** The page of orders and mandatory categories; −1: the default page. */
  readonly ordersPageId: number;
  /** Undefined: pages have no incident number (`INCIDENT_KEYS` is unset). */
  readonly seal: IncidentSeal | undefined;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs: () => number;
}

/** Evaluates the policy that answers DNS (decisions §7), to find out what the page must tell the visitor. */
export class RequestEvaluator {
  private readonly names: SuffixHashes;
  private readonly decision = new Decision();
  private readonly match = new SubscriberMatch();

  constructor(private readonly options: RequestEvaluatorOptions) {
    this.names = new SuffixHashes(options.hashKey);
  }

  /** @param name the site in normal form; null: the request names no site */
  async evaluate(client: ClientAddress, name: string | null): Promise<PageSubject> {
    const { source } = this.options;
    if (source.policy === null) return { kind: 'not_ready' };
    if (name === null) return { kind: 'no_name' };
    const isIdentified = this.identify(source.policy, client);
    const blocked = this.decide(client, name, name, isIdentified);
    if (blocked !== null) return blocked;
    const { verdict, explicitAllow, rewrite } = this.decision;
    // A rule that allows the name also allows its targets, except for orders (decisions §14).
    const isByProfile = this.options.isInspected && verdict === Verdict.permit && !explicitAllow;
    if (isByProfile || source.policy.hasOrders) {
      for await (const target of this.targetsOf(client, name, rewrite)) {
        const blockedByTarget = this.decide(client, name, target, isByProfile);
        if (blockedByTarget !== null) return blockedByTarget;
      }
    }
    return { kind: 'not_blocked', name };
  }

  /** Where the name leads to: first to where a blocked category sends it (safe search), then along CNAME records. */
  private async *targetsOf(
    client: ClientAddress,
    name: string,
    rewrite: Decision['rewrite'],
  ): AsyncGenerator<string> {
    const asked = rewrite === null ? name : formatName(rewrite.target, 0);
    if (asked !== name) yield asked;
    if (this.options.targets !== null) yield* this.options.targets.of(client, asked);
  }

  /**
   * @param isByProfile false: orders and mandatory categories alone are asked.
   * @returns what to tell when `candidate` is blocked for the client; null: it is not blocked.
   */
  private decide(
    client: ClientAddress,
    name: string,
    candidate: string,
    isByProfile: boolean,
  ): PageSubject | null {
    const { decision, names } = this;
    const { source, ordersPageId, seal } = this.options;
    const { policy } = source;
    if (policy === null) return null;
    const nowMs = this.options.nowMs();
    names.compute(toWireName(candidate), 0);
    policy.identify(client, nowMs, decision);
    if (isByProfile) policy.judge(names, decision);
    else policy.judgeOrders(names, decision);
    if (decision.verdict !== Verdict.block) return null;
    const reason = reasonOf(policy, decision);
    const isSecret = reason.code === 'order' && reason.texts === undefined;
    const isForAll = isForEverybody(reason);
    const target = candidate === name ? undefined : candidate;
    const incident = { client, domain: name, atMs: nowMs, ...(target !== undefined && { target }) };
    return {
      kind: 'blocked',
      name: isSecret ? undefined : name,
      reason,
      target: isSecret ? undefined : target,
      nextSwitch: isForAll ? undefined : nextSwitchOf(decision, nowMs),
      pageId: isForAll ? ordersPageId : decision.pageId,
      incident: isForAll ? undefined : seal?.seal(incident),
    };
  }

  /**
   * A proxy may name an address without a port. Where ports distinguish the subscribers of the address, a range or a
   * network may belong to another one than the visitor. A single range of all ports identifies the visitor by any port.
   * @returns whether the policy of the visitor can be asked.
   */
  private identify(policy: Policy, client: ClientAddress): boolean {
    if (client.port !== UNKNOWN_PORT) return true;
    if (policy.needsPort(client)) return false;
    client.port = 0;
    policy.match(client, this.match);
    if (this.match.by !== MatchedBy.naptRange) client.port = UNKNOWN_PORT;
    return true;
  }
}

function reasonOf(
  { catalogue, orders }: Policy,
  { reason, matchedId, orderNumber }: Decision,
): BlockReason {
  switch (reason) {
    case Reason.category:
      return { code: 'category', name: catalogue?.category(matchedId)?.name };
    case Reason.applicationRule:
      return { code: 'application', name: catalogue?.applicationName(matchedId) };
    case Reason.whiteListOnly:
      return { code: 'allow_list_only' };
    case Reason.domainRule:
      return { code: 'list' };
    case Reason.grant:
      return { code: 'grant' };
    case Reason.order:
      return { code: 'order', texts: orders.textsOf(orderNumber) };
    case Reason.mandatoryCategory: {
      const { name, purpose, secret } = catalogue?.category(matchedId) ?? {};
      if (secret) return { code: 'order', texts: undefined };
      return { code: 'mandatory', name, isByLaw: purpose === 'legal' };
    }
    case Reason.none:
    case Reason.noProfile:
    case Reason.outsideRanges:
      throw new Error(`reason ${reason} blocks nothing`);
  }
}

/** Schedules switch at whole minutes. The decision has the seconds until then, rounded down, at least 1. */
function nextSwitchOf(
  { ttlCapSeconds, profileId, activeProfileId, reason }: Decision,
  nowMs: number,
): NextSwitch | undefined {
  // A grant has an end of its own.
  if (ttlCapSeconds === NO_TTL_CAP || reason === Reason.grant) return undefined;
  return {
    atMs: Math.round((nowMs + ttlCapSeconds * 1000) / MINUTE_MS) * MINUTE_MS,
    isInPeriod: activeProfileId !== profileId,
  };
}
