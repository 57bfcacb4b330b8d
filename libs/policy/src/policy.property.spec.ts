import { type Operation, type Profile, RuleVerdict, toRow } from '@weir/config-model';
import { SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Client } from './client-address.js';
import { Decision, isOfOrders, NO_TTL_CAP, Reason, Verdict } from './decision.js';
import { Policy } from './policy.js';
import type { Explanation, PolicyReader } from './policy-reader.js';
import { type PolicyMessage, SharedPolicyWriter } from './sharing/shared-policy-writer.js';
import { SharedPolicy } from './sharing/shared-policy.js';
import { asker, listings, name, operation, WEEKS } from './testing/arbitraries.js';
import { client, KEY } from './testing/fixtures.js';
import { type Listing, MapCatalogue, SECRET_ID } from './testing/map-catalogue.js';
import {
  type Active,
  decided,
  type Judgement,
  type OracleClient,
  PolicyOracle,
  type Subscriber,
} from './testing/policy-oracle.js';
import { WallClock } from './testing/wall-clock.js';

const DAY_MS = 86_400_000;
const HALF_HOUR_MS = 1_800_000;
/** A day before the clock changes in most of these zones, on different dates; in some there is no change. */
const CLOCKS = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
].map((zone, i) => {
  // A week to ask in, and beyond it what a search for the next switch may have to look at.
  return new WallClock(zone, WEEKS[i], WEEKS[i] + 25 * DAY_MS);
});

/** More in the nightly tests. */
const RUNS = Number(process.env['POLICY_RUNS'] ?? 200);
const MIN_TRIPLES = RUNS * 1800;
/**
 * Orders and mandatory categories over all that comes after, and grants, each saying either; domain rules and
 * application rules in both orders, each saying either, over each other and over what comes after; and the last two.
 */
const DISAGREEMENTS = 2 * 8 + 2 * 6 + 17;

const names = fc.uniqueArray(name, { minLength: 14, maxLength: 18 });
const askers = fc.array(asker, { minLength: 14, maxLength: 18 });
/** Milliseconds into the week: any, or where a period may begin or end, or just beside it. */
const time = fc.oneof(
  fc.nat({ max: 7 * DAY_MS }),
  fc
    .tuple(fc.integer({ min: 1, max: 335 }), fc.constantFrom(-1000, -1, 0, 1))
    .map(([halfHours, beside]) => halfHours * HALF_HOUR_MS + beside),
);
const times = fc.array(time, { minLength: 5, maxLength: 7 });
const isInWeek = (sinceMs: number): boolean => sinceMs > 0 && sinceMs < 7 * DAY_MS;
/** Operations, other listings, and after how many operations on a fork queries are decided; null: in place. */
const step = fc.tuple(
  fc.array(operation, { maxLength: 12 }),
  fc.option(listings),
  fc.option(fc.nat({ max: 11 }), { freq: 2 }),
);
const world = fc.record({
  clock: fc.constantFrom(...CLOCKS),
  first: fc.array(operation, { minLength: 30, maxLength: 80 }),
  listed: listings,
  steps: fc.array(step, { maxLength: 4 }),
  askers,
  names,
  times,
});

interface Questions {
  readonly clients: readonly { client: Client; asker: OracleClient }[];
  readonly names: readonly { hashes: SuffixHashes; name: string }[];
  readonly times: number[];
}

function hashesOf(of: string): SuffixHashes {
  const hashes = new SuffixHashes(KEY);
  hashes.compute(toWireName(of), 0);
  return hashes;
}

/** What a decision must be. */
interface Expected {
  readonly subscriber: Subscriber;
  readonly active: Active | null;
  /** Null: the client has no profile, and nobody denies the name to everybody. */
  readonly judged: Judgement | null;
  readonly rewrittenBy: number | null;
  readonly nowMs: number;
}

/** The profile whose page is shown; null: it is not one of a profile. */
function pageProfile(
  oracle: PolicyOracle,
  { subscriber, active, judged }: Expected,
): Profile | null {
  if (active === null || judged === null || isOfOrders(Reason[judged.reason])) return null;
  return judged.reason === 'grant' ? oracle.profile(subscriber.profileId) : active.profile;
}

function ttlCap({ active, judged, nowMs }: Expected): number {
  const untilMs = judged?.untilMs ?? Infinity;
  const seconds = [active?.secondsToSwitch ?? Infinity, Math.floor((untilMs - nowMs) / 1000)];
  return Math.min(NO_TTL_CAP, Math.max(1, Math.min(...seconds)));
}

/**
 * Fails, with the question in its message, unless the decision is the oracle's. (A matcher for each field would take
 * minutes.)
 */
function check(out: Decision, oracle: PolicyOracle, expected: Expected, isExplained = false): void {
  const { subscriber, active, judged, rewrittenBy } = expected;
  const page = pageProfile(oracle, expected);
  const isSecret = isExplained && judged?.ids[0] === SECRET_ID;
  const isRight =
    (judged === null
      ? out.verdict === Verdict.unfiltered &&
        out.reason ===
          (subscriber.isOutsideRanges === true ? Reason.outsideRanges : Reason.noProfile) &&
        !out.explicitAllow &&
        out.rewrite === null
      : out.verdict === Verdict[judged.verdict] &&
        out.reason === Reason[judged.reason] &&
        out.explicitAllow === judged.explicitAllow &&
        (out.rewrite?.categoryId ?? null) === rewrittenBy &&
        out.matchedLabels === (isSecret ? 0 : judged.labels) &&
        (judged.ids.length === 0 || isSecret
          ? out.matchedId === -1
          : judged.ids.includes(out.matchedId)) &&
        (judged.verdict === 'permit' ||
          (out.pageId === (page?.pageId ?? -1) &&
            out.emptyDnsAnswer === (page?.emptyDnsAnswer ?? false)))) &&
    out.profileId === (active === null ? -1 : subscriber.profileId) &&
    out.activeProfileId === (active?.profile.id ?? -1) &&
    out.ttlCapSeconds === ttlCap(expected);
  if (!isRight) expect(out).toEqual(expected);
}

/** An explanation has the subscriber and what each step says, as the oracle has them. */
function checkExplanation(
  { subscriber: match, period, nextSwitchMs, steps }: Explanation,
  subscriber: Subscriber,
  active: Active | null,
  judgements: readonly Judgement[],
  nowMs: number,
): void {
  const said = steps.filter(({ verdict }) => verdict !== 0);
  const isRight =
    Object.entries(subscriber.match).every(([name, value]) => match[name as 'by'] === value) &&
    steps.length === (active === null ? 1 : 6) &&
    isOfOrders(steps[0].step) &&
    said.length === judgements.length &&
    judgements.every(({ verdict, reason, labels, ids }, i) => {
      const isSecret = ids[0] === SECRET_ID;
      return (
        said[i].step === Reason[reason] &&
        said[i].verdict === (verdict === 'permit' ? RuleVerdict.allow : RuleVerdict.deny) &&
        said[i].matchedLabels === (isSecret ? 0 : labels) &&
        (ids.length === 0 || isSecret ? said[i].matchedId === -1 : ids.includes(said[i].matchedId))
      );
    }) &&
    (active?.switchMs ?? null) === nextSwitchMs &&
    (period === null
      ? active === null || active.profile.id === subscriber.profileId
      : period.targetProfileId === active?.profile.id &&
        period.untilMs === nextSwitchMs &&
        (nextSwitchMs === null) === (period.sinceMs === null) &&
        (period.sinceMs === null || period.sinceMs <= nowMs));
  if (!isRight)
    expect({ match, period, nextSwitchMs, steps }).toEqual({ subscriber, active, judgements });
}

/** How often each reason decided. */
let rewritten = 0;
const outcomes = new Array<number>(Object.keys(Reason).length).fill(0);

/** By what was decided and over what: in how many cases of a profile and a name. */
const overruled = new Map<string, number>();

function noteOverruled([first, ...rest]: readonly Judgement[]): void {
  for (const other of rest) {
    const pair = `${first.verdict} by ${first.reason} over ${other.verdict} by ${other.reason}`;
    overruled.set(pair, (overruled.get(pair) ?? 0) + 1);
  }
}

/** Shares policies with a reader, as if it were in another thread: all that it gets is cloned. */
function connectReader(): { writer: SharedPolicyWriter; shared: SharedPolicy } {
  const writer = new SharedPolicyWriter(1);
  const messages: PolicyMessage[] = [];
  const invitation = writer.connect(0, (message) => messages.push(structuredClone(message)));
  const shared = new SharedPolicy(structuredClone(invitation), {
    receive: () => messages.shift(),
    openCatalogue: (listed) => new MapCatalogue(KEY, listed as ReadonlyMap<string, Listing>),
  });
  return { writer, shared };
}

/**
 * Asks policy, shared reader and oracle everything, except for one explanation of all clients with the same profiles.
 * @returns how many questions that were.
 */
function compare(
  policy: Policy,
  reader: PolicyReader,
  oracle: PolicyOracle,
  { clients, names, times }: Questions,
): number {
  const out = new Decision();
  const ladders = new Map<string, Judgement[]>();
  const ladder = (active: Active, name: string): Judgement[] => {
    const key = `${active.profile.id} ${name}`;
    const known = ladders.get(key) ?? oracle.judgements(active.profile, name);
    ladders.set(key, known);
    return known;
  };
  const judgements = new Map<string, Judgement[]>();
  const judge = (active: Active | null, own: number, name: string, nowMs: number): Judgement[] => {
    const key = `${active?.profile.id} ${own} ${nowMs} ${name}`;
    const known = judgements.get(key);
    if (known !== undefined) return known;
    const first = [
      oracle.everybody(name, nowMs),
      active === null ? null : oracle.granted(own, name, nowMs),
    ];
    const rest = active === null ? [] : ladder(active, name);
    const all = [...first.filter((one) => one !== null), ...rest];
    judgements.set(key, all);
    noteOverruled(all);
    return all;
  };
  for (const { client, asker } of clients) {
    const subscriber = oracle.subscriber(asker);
    for (const nowMs of times) {
      const active = oracle.active(subscriber.profileId, nowMs);
      for (const { hashes, name } of names) {
        const known = judgements.size;
        const all = judge(active, subscriber.profileId ?? -1, name, nowMs);
        const judged = active === null && all.length === 0 ? null : decided(all);
        const rewrittenBy =
          active === null || judged === null
            ? null
            : oracle.rewriteOf(active.profile, name, judged);
        if (rewrittenBy !== null) rewritten++;
        const expected = { subscriber, active, judged, rewrittenBy, nowMs };
        policy.decide(client, hashes, nowMs, out);
        check(out, oracle, expected);
        reader.decide(client, hashes, nowMs, out);
        check(out, oracle, expected);
        outcomes[out.reason]++;
        const isFirst = nowMs === times[0] && name === names[0].name;
        if (judgements.size === known && !isFirst) continue;
        const explanation = policy.explain(client, hashes, nowMs);
        check(explanation.decision, oracle, expected, true);
        checkExplanation(explanation, subscriber, active, all, nowMs);
      }
    }
  }
  return clients.length * times.length * names.length;
}

describe('Policy', () => {
  it('decides and explains like a scan over all entities, whether applied at once, applied aside or loaded', () => {
    let triples = 0;
    fc.assert(
      fc.property(world, ({ clock, first, listed, steps, askers, names, times }) => {
        let policy = new Policy({ timeZone: clock.timeZone });
        const oracle = new PolicyOracle(KEY, clock);
        const { writer, shared } = connectReader();
        writer.trySwap(policy, 0);
        const compareBoth = (own: Policy, asked: Questions): number => {
          const reader = shared.enter()!;
          expect(reader.revision).toBe(own.revision);
          const count = compare(own, reader, oracle, asked);
          shared.leave();
          return count;
        };
        const change = (
          operations: readonly Operation[],
          next: ReadonlyMap<string, Listing> | null,
        ): void => {
          const step = (): void => {
            if (next !== null) policy.setCatalogue(new MapCatalogue(KEY, next));
            policy.apply({ revision: policy.revision + 1, digest: '', operations });
          };
          expect(writer.tryChange(step, 0)).toBe(true);
        };
        /** In steps, in the middle of which the policy in force is asked. */
        const changeAside = (
          operations: readonly Operation[],
          next: ReadonlyMap<string, Listing> | null,
          pause: number,
          asked: Questions,
        ): void => {
          const fork = policy.fork();
          if (next !== null) fork.setCatalogue(new MapCatalogue(KEY, next));
          const revision = policy.revision + 1;
          const steps = fork.applyInSteps({ revision, digest: '', operations });
          for (let i = 0; steps.next().done !== true; i++) {
            if (i === pause) compareBoth(policy, asked);
          }
          expect(policy.digest()).toBe(oracle.digest());
          expect(policy.counts()).toEqual(oracle.counts());
          expect(writer.trySwap(fork, 0)).toBe(true);
          fork.endFork();
          policy = fork;
        };
        const follow = (
          operations: readonly Operation[],
          next: ReadonlyMap<string, Listing> | null,
        ): void => {
          if (next !== null) oracle.listings = next;
          for (const one of operations) oracle.apply(one);
          expect(policy.digest()).toBe(oracle.digest());
          expect(policy.counts()).toEqual(oracle.counts());
        };
        const questions: Questions = {
          clients: askers.map((one) => ({
            client: client(one.family, one.address, one.port),
            asker: one,
          })),
          names: names.map((one) => ({ hashes: hashesOf(one), name: one })),
          times: times.map((sinceMs) => clock.fromMs + sinceMs),
        };
        change(first, listed);
        follow(first, listed);
        const inWeek = oracle.ends().filter((end) => isInWeek(end - clock.fromMs));
        questions.times.push(...inWeek.slice(0, 2).flatMap((end) => [end - 1, end]));
        triples += compareBoth(policy, questions);
        const few = { ...questions, times: questions.times.slice(0, 1) };
        for (const [operations, next, pause] of steps) {
          if (pause === null) change(operations, next);
          else changeAside(operations, next, pause, few);
          follow(operations, next);
          triples += compareBoth(policy, few);
        }
        const loaded = new Policy({ timeZone: clock.timeZone });
        for (const { kind, entity } of oracle.puts().reverse()) {
          loaded.load(kind, [toRow(kind, entity)]);
        }
        loaded.setCatalogue(new MapCatalogue(KEY, oracle.listings));
        expect(loaded.digest()).toBe(policy.digest());
        expect(writer.trySwap(loaded, 0)).toBe(true);
        compareBoth(loaded, few);
      }),
      { numRuns: RUNS },
    );
    expect(triples).toBeGreaterThanOrEqual(MIN_TRIPLES);
    expect(Math.min(...outcomes), 'every step decides often').toBeGreaterThan(MIN_TRIPLES / 1000);
    expect(rewritten, 'names are rewritten often').toBeGreaterThan(MIN_TRIPLES / 1000);
    expect(overruled.size).toBe(DISAGREEMENTS);
    expect(Math.min(...overruled.values()), 'every step overrules others').toBeGreaterThan(10);
  });
});
