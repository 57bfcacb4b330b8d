import {
  Digest,
  type Entities,
  ENTITY_KINDS,
  type EntityKind,
  type Operation,
  type Profile,
  type PutOperation,
  RuleVerdict,
  toKeyRow,
  toRow,
} from '@weir/config-model';
import { hashDomain, type HashKey } from '@weir/dns-name';
import { MatchedBy, type SubscriberMatch } from '../subscribers/subscriber-lookup.js';
import type { Reason } from '../decision.js';
import { type Listing, MANDATORY_IDS } from './map-catalogue.js';
import type { WallClock } from './wall-clock.js';

export interface OracleClient {
  readonly family: 4 | 6;
  /** 32 or 128 bits. */
  readonly address: bigint;
  readonly port: number;
}

/** The profile of a client, and the record that it was found by. */
export interface Subscriber {
  readonly profileId: number | null;
  readonly match: Partial<SubscriberMatch>;
  /** The address has NAPT ranges, but none with the port. */
  readonly isOutsideRanges?: boolean;
}

/** The profile that decides, and the seconds to the next switch; null: there is none. */
export interface Active {
  readonly profile: Profile;
  readonly secondsToSwitch: number | null;
  /** The same as an instant, in milliseconds. */
  readonly switchMs: number | null;
}

/** The verdict on a name, and the step of decisions §14, §15 or §7 that decided. */
export interface Judgement {
  readonly verdict: 'permit' | 'block';
  readonly reason: Exclude<keyof typeof Reason, 'noProfile' | 'outsideRanges'>;
  readonly explicitAllow: boolean;
  /** Labels of the suffix that matched; 0: none. */
  readonly labels: number;
  /** The applications or categories of which any may be given as the reason. */
  readonly ids: readonly number[];
  /** When it ends, in milliseconds; undefined: it does not end by itself. */
  readonly untilMs?: number;
}

/** A judgement without a suffix. */
const NOTHING = { explicitAllow: false, labels: 0, ids: [] } as const;

/**
 * The filtering semantics of decisions §5, §7, §14 and §15, in the most direct form: every entity is in a map, every
 * lookup is a scan.
 */
export class PolicyOracle {
  listings: ReadonlyMap<string, Listing> = new Map();
  private readonly entities = new Map<EntityKind, Map<string, unknown>>(
    ENTITY_KINDS.map((kind) => [kind, new Map()]),
  );

  private readonly hashes = new Map<string, number>();

  constructor(
    private readonly key: HashKey,
    private readonly clock: WallClock,
  ) {}

  apply(operation: Operation): void {
    if (operation.type === 'reload') throw new Error('not for the oracle');
    const { kind } = operation;
    if (operation.type === 'put') {
      this.entities.get(kind)!.set(toKeyRow(kind, operation.entity).join(), operation.entity);
    } else {
      this.entities.get(kind)!.delete(toKeyRow(kind, operation.key).join());
    }
  }

  /** All entities. */
  puts(): PutOperation[] {
    return ENTITY_KINDS.flatMap((kind) =>
      this.all(kind).map((entity) => ({ type: 'put', kind, entity }) as PutOperation),
    );
  }

  digest(): string {
    const digest = new Digest();
    for (const kind of ENTITY_KINDS) {
      for (const entity of this.all(kind)) digest.add(kind, toRow(kind, entity));
    }
    return digest.toString();
  }

  counts(): Record<string, number> {
    return Object.fromEntries(ENTITY_KINDS.map((kind) => [kind, this.all(kind).length]));
  }

  /** The narrowest NAPT range that has the port; else the longest matching network; else no profile. */
  subscriber({ family, address, port }: OracleClient): Subscriber {
    if (family === 4) {
      const [narrowest] = this.all('naptAssignment')
        .filter(
          (one) =>
            BigInt(one.address) === address && one.lowerPort <= port && port <= one.upperPort,
        )
        .sort((a, b) => a.upperPort - a.lowerPort - (b.upperPort - b.lowerPort));
      if (narrowest !== undefined) {
        const { profileId, lowerPort, upperPort } = narrowest;
        return { profileId, match: { by: MatchedBy.naptRange, lowerPort, upperPort } };
      }
    }
    const networks =
      family === 4
        ? this.all('ipv4Network').map((one) => ({ ...one, value: BigInt(one.address), width: 32 }))
        : this.all('ipv6Network').map((one) => ({
            ...one,
            value: one.address.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n),
            width: 128,
          }));
    const [longest] = networks
      .filter(({ value, width, prefixLength }) => {
        const hostBits = BigInt(width - prefixLength);
        return value >> hostBits === address >> hostBits;
      })
      .sort((a, b) => b.prefixLength - a.prefixLength);
    if (longest === undefined) {
      const isShared =
        family === 4 && this.all('naptAssignment').some((one) => BigInt(one.address) === address);
      const by = isShared ? MatchedBy.outsideRanges : MatchedBy.nothing;
      return { profileId: null, match: { by }, isOutsideRanges: isShared };
    }
    const { profileId, prefixLength } = longest;
    return { profileId, match: { by: MatchedBy.network, prefixLength } };
  }

  profile(id: number | null): Profile | null {
    return this.all('profile').find((one) => one.id === id) ?? null;
  }

  /** The active profile: the target of the schedule or the own one; null: there is no such profile. */
  active(profileId: number | null, nowMs: number): Active | null {
    const own = this.profile(profileId);
    if (own === null) return null;
    const schedule = this.all('schedule').find((one) => one.profileId === own.id);
    if (schedule === undefined) return { profile: own, secondsToSwitch: null, switchMs: null };
    const { periods, targetProfileId } = schedule;
    const target = this.all('profile').find((one) => one.id === targetProfileId);
    const switchMs = this.clock.nextSwitch(periods, nowMs);
    return {
      profile: this.clock.isInside(periods, nowMs) && target !== undefined ? target : own,
      secondsToSwitch: switchMs === null ? null : Math.floor((switchMs - nowMs) / 1000),
      switchMs,
    };
  }

  /** What everybody is denied: an order, or else a mandatory category; null: the name is not. */
  everybody(name: string, nowMs: number): Judgement | null {
    for (const suffix of suffixes(name)) {
      const [order] = this.all('order')
        .filter((one) => one.domainHash === this.hash(suffix) && isLater(one.until, nowMs))
        .sort((a, b) => a.id - b.id);
      if (order === undefined) continue;
      const said = ruleSays('order', RuleVerdict.deny, suffix, [order.id]);
      return order.until === null ? said : { ...said, untilMs: order.until * 1000 };
    }
    return this.askCategories('mandatoryCategory', MANDATORY_IDS, name);
  }

  /** The grant of a profile; null: it has none for the name. */
  granted(profileId: number, name: string, nowMs: number): Judgement | null {
    const grants = this.all('grant').filter((one) => one.profileId === profileId);
    for (const suffix of suffixes(name)) {
      const grant = grants.find(
        (one) => one.domainHash === this.hash(suffix) && isLater(one.until, nowMs),
      );
      if (grant === undefined) continue;
      const said = ruleSays('grant', grant.verdict, suffix, []);
      return { ...said, untilMs: grant.until * 1000 };
    }
    return null;
  }

  /** When orders and grants end, in milliseconds. */
  ends(): number[] {
    const all = [...this.all('order'), ...this.all('grant')].map(({ until }) => until);
    return all.filter((until) => until !== null).map((until) => until * 1000);
  }

  /** The judgements of all other steps on a name in the order of precedence of the profile: the first decides. */
  judgements(profile: Profile, name: string): Judgement[] {
    const lists = this.matchDomainRules(profile, name);
    const applications = this.askApplications(profile, name);
    const rules = profile.appawarePriorityOverBwlists
      ? [applications, lists]
      : [lists, applications];
    const whiteListOnly = profile.whiteListOnly
      ? ({ ...NOTHING, verdict: 'block', reason: 'whiteListOnly' } as const)
      : null;
    const all = [
      ...rules,
      whiteListOnly,
      this.askCategories('category', profile.categoryIds, name),
    ];
    return all.filter((one) => one !== null);
  }

  /** The category that rewrites a name with this judgement; null: none does. */
  rewriteOf(profile: Profile, name: string, { verdict }: Judgement): number | null {
    if (verdict === 'block') return null;
    const rewriting = this.listings.get(name)?.rewrites ?? [];
    return rewriting.find((id) => profile.categoryIds.includes(id)) ?? null;
  }

  private matchDomainRules(profile: Profile, name: string): Judgement | null {
    const rules = this.all('domainRule').filter((one) => one.profileId === profile.id);
    for (const suffix of suffixes(name)) {
      const rule = rules.find((one) => one.domainHash === this.hash(suffix));
      if (rule === undefined) continue;
      return ruleSays('domainRule', rule.verdict, suffix, []);
    }
    return null;
  }

  private askApplications(profile: Profile, name: string): Judgement | null {
    for (const suffix of suffixes(name)) {
      const listed = this.listings.get(suffix)?.applications ?? [];
      const rules = profile.applicationRules.filter((rule) => listed.includes(rule.applicationId));
      if (rules.length === 0) continue;
      const allowing = rules.filter((rule) => rule.verdict === RuleVerdict.allow);
      const deciding = allowing.length > 0 ? allowing : rules;
      const ids = deciding.map((rule) => rule.applicationId);
      return ruleSays('applicationRule', deciding[0].verdict, suffix, ids);
    }
    return null;
  }

  private askCategories(
    reason: Judgement['reason'],
    ids: readonly number[],
    name: string,
  ): Judgement | null {
    const found = suffixes(name).flatMap((suffix) =>
      (this.listings.get(suffix)?.categories ?? [])
        .filter((id) => ids.includes(id))
        .map((id) => ({ id, labels: labelsOf(suffix) })),
    );
    if (found.length === 0) return null;
    const [{ id, labels }] = found.sort((a, b) => a.id - b.id || b.labels - a.labels);
    return { verdict: 'block', reason, explicitAllow: false, labels, ids: [id] };
  }

  private hash(suffix: string): number {
    const known = this.hashes.get(suffix) ?? hashDomain(suffix, this.key);
    this.hashes.set(suffix, known);
    return known;
  }

  private all<K extends EntityKind>(kind: K): Entities[K][] {
    return [...this.entities.get(kind)!.values()] as Entities[K][];
  }
}

/** The first judgement; without one the name is permitted. */
export function decided([first]: readonly Judgement[]): Judgement {
  return first ?? { ...NOTHING, verdict: 'permit', reason: 'none' };
}

function isLater(until: number | null, nowMs: number): boolean {
  return until === null || until * 1000 > nowMs;
}

function ruleSays(
  reason: Judgement['reason'],
  said: RuleVerdict,
  suffix: string,
  ids: readonly number[],
): Judgement {
  const allows = said === RuleVerdict.allow;
  return {
    verdict: allows ? 'permit' : 'block',
    reason,
    explicitAllow: allows,
    labels: labelsOf(suffix),
    ids,
  };
}

const suffixesOfNames = new Map<string, readonly string[]>();

/** The name and its parents, longest first. */
function suffixes(name: string): readonly string[] {
  const known = suffixesOfNames.get(name);
  if (known !== undefined) return known;
  const labels = name.split('.');
  const all = labels.map((_, i) => labels.slice(i).join('.'));
  suffixesOfNames.set(name, all);
  return all;
}

function labelsOf(suffix: string): number {
  return suffixes(suffix).length;
}
