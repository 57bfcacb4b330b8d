import type { SuffixHashes } from '@weir/dns-name';
import type { CatalogueIndex } from './catalogue-index.js';
import type { Client } from './client-address.js';
import { Decision, NO_TTL_CAP, Reason, type Verdict } from './decision.js';
import { PolicyError } from './check-operation.js';
import type { Space } from './memory/space.js';
import type { PolicySpaces } from './policy-spaces.js';
import type { OrderLookup } from './rules/orders.js';
import { RuleEvaluator, type StepVerdict } from './rule-evaluator.js';
import { LOOK_AHEAD_MS, ScheduleLookup } from './schedules/schedules.js';
import { ZoneClock } from './schedules/zone-clock.js';
import { MatchedBy, SubscriberLookup, SubscriberMatch } from './subscribers/subscriber-lookup.js';

export interface PolicyOptions {
  /** IANA name of the time zone of schedules (decisions §5). */
  readonly timeZone: string;
}

/** Words of the space `head`, which has the revision: its low half, then its high half. */
export const HEAD_WORDS = 2;
const TWO_TO_32 = 4_294_967_296;

export function writeRevision(head: Space, revision: number): void {
  const words = head.own(0);
  words[0] = revision | 0;
  words[1] = Math.floor(revision / TWO_TO_32);
}

/** Holds the policy in force; null before the first snapshot. */
export interface PolicySource<P extends PolicyReader = PolicyReader> {
  readonly policy: P | null;
}

/** The time for which the target of a schedule stays active without a break, in milliseconds. Null: for good. */
interface SchedulePeriod {
  readonly targetProfileId: number;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

/** A decision, and what it was made of. No part of it names a domain, as the policy knows only hashes. */
export interface Explanation {
  readonly decision: Decision;
  readonly subscriber: SubscriberMatch;
  /** Null: no period of a schedule holds now. */
  readonly period: SchedulePeriod | null;
  /** The next switch of its schedule; null: there will be none. */
  readonly nextSwitchMs: number | null;
  /**
   * What each step says, in order of precedence. The first that says anything has decided; if none does, the name is
   * permitted. The first step is `order` or `mandatoryCategory`; for a client without a profile there are no others. Of
   * a secret category neither the suffix nor the id is known.
   */
  readonly steps: readonly StepVerdict[];
}

/**
 * Answers queries from the memory of a policy: the subscriber of a client, the active profile, its verdict on a name
 * (decisions §5, §7, §8). The policy itself is one, and every other thread can have one: one for each thread, as it has
 * room for one query.
 *
 * `identify`, `judge`, `judgeOrders`, `decide` and `match` allocate nothing and never throw.
 */
export class PolicyReader {
  private readonly head: Space;
  private readonly subscribers: SubscriberLookup;
  private readonly schedules: ScheduleLookup;
  private readonly evaluator: RuleEvaluator;
  private readonly clock: ZoneClock;

  /**
   * @param spaces of which the structures are created before the first query.
   * @throws PolicyError when there is no such time zone.
   */
  constructor(spaces: PolicySpaces, { timeZone }: PolicyOptions) {
    try {
      this.clock = new ZoneClock(timeZone);
    } catch (cause) {
      throw new PolicyError('the time zone of schedules is unknown', { cause });
    }
    this.head = spaces.head;
    this.subscribers = new SubscriberLookup(spaces);
    this.schedules = new ScheduleLookup(spaces, this.clock);
    this.evaluator = new RuleEvaluator(spaces, this.clock);
  }

  get revision(): number {
    const [words] = this.head.chunks;
    return words[1] * TWO_TO_32 + (words[0] >>> 0);
  }

  /** The index in which names are looked up; null: no name is in any category or application. */
  get catalogue(): CatalogueIndex | null {
    return this.evaluator.catalogue;
  }

  setCatalogue(index: CatalogueIndex | null): void {
    this.evaluator.setCatalogue(index);
  }

  /** Finds the profile of the client and the active one. Leaves the fields that `judge` sets as they are. */
  identify(client: Client, nowMs: number, out: Decision): void {
    this.clock.nowMs = nowMs;
    const { subscribers } = this;
    const { profiles } = this.evaluator;
    const slot = subscribers.find(client);
    out.isOutsideRanges = subscribers.matchedBy === MatchedBy.outsideRanges;
    out.ttlCapSeconds = NO_TTL_CAP;
    const hasProfile = slot >= 0 && profiles.exists(slot);
    out.ownSlot = hasProfile ? slot : -1;
    out.profileId = hasProfile ? profiles.id(slot) : -1;
    out.activeSlot =
      hasProfile && profiles.isScheduled(slot) ? this.activeSlot(slot, out) : out.ownSlot;
    out.activeProfileId = hasProfile ? profiles.id(out.activeSlot) : -1;
  }

  /** Finds the network or NAPT range that identifies the subscriber of a client. Allocates nothing, never throws. */
  match(client: Client, out: SubscriberMatch): void {
    this.subscribers.match(client, out);
  }

  /** Whether the address has NAPT ranges, and not just one of all ports. Allocates nothing, never throws. */
  needsPort(client: Client): boolean {
    return this.subscribers.needsPort(client);
  }

  /** Judges a name, the queried one or a CNAME target, by the active profile that `identify` of this policy found. */
  judge(names: SuffixHashes, out: Decision): void {
    const { activeSlot } = out;
    const hasProfile = activeSlot >= 0 && this.evaluator.profiles.exists(activeSlot);
    this.evaluator.judge(hasProfile ? activeSlot : -1, names, out);
  }

  /** The same by orders and mandatory categories alone: what they do not block is `unfiltered`. */
  judgeOrders(names: SuffixHashes, out: Decision): void {
    this.evaluator.judge(-1, names, out);
  }

  /** Whether `judgeOrders` may block anything. */
  get hasOrders(): boolean {
    return this.evaluator.hasOrders;
  }

  get orders(): OrderLookup {
    return this.evaluator.orders;
  }

  /** `identify`, then `judge`. */
  decide(client: Client, names: SuffixHashes, nowMs: number, out: Decision): Verdict {
    this.identify(client, nowMs, out);
    this.judge(names, out);
    return out.verdict;
  }

  /** Decides, and tells what the decision was made of. Allocates. */
  explain(client: Client, names: SuffixHashes, nowMs: number): Explanation {
    const decision = new Decision();
    this.decide(client, names, nowMs, decision);
    const subscriber = new SubscriberMatch();
    this.match(client, subscriber);
    const hasProfile = decision.activeSlot >= 0;
    const steps = this.evaluator.ladder(decision, names);
    if (decision.reason === Reason.mandatoryCategory) this.evaluator.hideSecret(decision);
    return {
      decision,
      subscriber,
      ...(hasProfile ? this.schedule(decision.ownSlot) : { period: null, nextSwitchMs: null }),
      steps,
    };
  }

  private schedule(slot: number): Pick<Explanation, 'period' | 'nextSwitchMs'> {
    const { clock, schedules } = this;
    const { profiles } = this.evaluator;
    if (!schedules.find(slot)) return { period: null, nextSwitchMs: null };
    const { isInside, targetSlot, untilMs } = schedules;
    const nextSwitchMs = Number.isFinite(untilMs) ? untilMs : null;
    if (!isInside || !profiles.exists(targetSlot)) return { period: null, nextSwitchMs };
    const targetProfileId = profiles.id(targetSlot);
    if (nextSwitchMs === null) {
      return { period: { targetProfileId, sinceMs: null, untilMs: null }, nextSwitchMs };
    }
    const { nowMs } = clock;
    // From before the last switch on, from one switch to the next.
    let sinceMs = nowMs - LOOK_AHEAD_MS;
    for (;;) {
      clock.nowMs = sinceMs;
      schedules.find(slot);
      if (schedules.untilMs > nowMs) break;
      sinceMs = schedules.untilMs;
    }
    clock.nowMs = nowMs;
    return { period: { targetProfileId, sinceMs, untilMs: nextSwitchMs }, nextSwitchMs };
  }

  /** The target of the schedule during its periods, if that profile exists; else `slot`. Caps the TTL. */
  private activeSlot(slot: number, out: Decision): number {
    const { schedules } = this;
    if (!schedules.find(slot)) return slot;
    const seconds = Math.floor((schedules.untilMs - this.clock.nowMs) / 1000);
    out.ttlCapSeconds = Math.max(1, Math.min(NO_TTL_CAP, seconds));
    const { isInside, targetSlot } = schedules;
    return isInside && this.evaluator.profiles.exists(targetSlot) ? targetSlot : slot;
  }
}
