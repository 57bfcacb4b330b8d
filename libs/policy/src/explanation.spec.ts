import { describe, expect, it } from 'vitest';
import { type PutOperation, RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import { Reason } from './decision.js';
import { Policy } from './policy.js';
import { MatchedBy } from './subscribers/subscriber-lookup.js';
import { applicationRule, ipv4Client, KEY, namesOf, profile } from './testing/fixtures.js';
import { MapCatalogue } from './testing/map-catalogue.js';

const { allow, deny } = RuleVerdict;
const NETWORK = 0xc000_0200;
const NO_ORDER_OR_GRANT = [Reason.order, Reason.grant].map((step) => {
  return { step, verdict: 0, matchedLabels: 0, matchedId: -1 };
});

function policyOf(
  timeZone: string,
  ...entities: (readonly [PutOperation['kind'], PutOperation['entity']])[]
): Policy {
  const policy = new Policy({ timeZone });
  for (const [kind, entity] of entities) policy.put({ type: 'put', kind, entity } as PutOperation);
  return policy;
}

describe('Policy.explain', () => {
  const domainHash = hashDomain('bad.example', KEY);
  const policy = policyOf(
    'UTC',
    [
      'profile',
      profile(1, {
        whiteListOnly: true,
        appawarePriorityOverBwlists: true,
        categoryIds: [12],
        applicationRules: [applicationRule(3, allow)],
      }),
    ],
    ['domainRule', { profileId: 1, domainHash, verdict: deny }],
    ['ipv4Network', { address: NETWORK, prefixLength: 24, profileId: 1 }],
    ['naptAssignment', { address: NETWORK + 1, lowerPort: 1024, upperPort: 2047, profileId: 1 }],
    ['naptAssignment', { address: 0xcb00_7101, lowerPort: 0, upperPort: 9, profileId: 1 }],
  );
  const listings = new Map([['bad.example', { categories: [12], applications: [3] }]]);
  policy.setCatalogue(new MapCatalogue(KEY, listings));

  it('says what every step says, in the order of the profile, also after the one that decided', () => {
    const { decision, steps } = policy.explain(ipv4Client(9), namesOf('www.bad.example'), 0);
    expect(decision).toMatchObject({ reason: Reason.applicationRule, matchedId: 3 });
    expect(steps).toEqual([
      ...NO_ORDER_OR_GRANT,
      { step: Reason.applicationRule, verdict: allow, matchedLabels: 2, matchedId: 3 },
      { step: Reason.domainRule, verdict: deny, matchedLabels: 2, matchedId: -1 },
      { step: Reason.whiteListOnly, verdict: deny, matchedLabels: 0, matchedId: -1 },
      { step: Reason.category, verdict: deny, matchedLabels: 2, matchedId: 12 },
    ]);
    expect(policy.explain(ipv4Client(9), namesOf('a.example'), 0).steps).toEqual([
      ...NO_ORDER_OR_GRANT,
      { step: Reason.applicationRule, verdict: 0, matchedLabels: 0, matchedId: -1 },
      { step: Reason.domainRule, verdict: 0, matchedLabels: 0, matchedId: -1 },
      { step: Reason.whiteListOnly, verdict: deny, matchedLabels: 0, matchedId: -1 },
      { step: Reason.category, verdict: 0, matchedLabels: 0, matchedId: -1 },
    ]);
  });

  it('names the record by which the client is found, and asks for no more than orders without a profile', () => {
    const names = namesOf('a.example');
    expect(policy.explain(ipv4Client(1, 1500), names, 0).subscriber).toMatchObject({
      by: MatchedBy.naptRange,
      lowerPort: 1024,
      upperPort: 2047,
    });
    expect(policy.explain(ipv4Client(1, -1), names, 0).subscriber).toMatchObject({
      by: MatchedBy.network,
      prefixLength: 24,
    });
    const stranger = { family: 4, words: Uint32Array.of(0xcb00_7101, 0, 0, 0), port: -1 } as const;
    expect(policy.explain(stranger, names, 0)).toMatchObject({
      decision: { reason: Reason.outsideRanges },
      subscriber: { by: MatchedBy.outsideRanges },
      period: null,
      nextSwitchMs: null,
      steps: [{ step: Reason.order, verdict: 0 }],
    });
  });
});

describe('the period of an explanation', () => {
  const at = (text: string): number => Temporal.ZonedDateTime.from(text).epochMilliseconds;
  const explainAt = (
    zone: string,
    periods: { start: number; end: number }[],
    now: string,
  ): unknown => {
    const policy = policyOf(
      zone,
      ['profile', profile(1)],
      ['profile', profile(2)],
      ['ipv4Network', { address: NETWORK, prefixLength: 24, profileId: 1 }],
      ['schedule', { profileId: 1, targetProfileId: 2, periods }],
    );
    const { period, nextSwitchMs } = policy.explain(ipv4Client(1), namesOf('a.example'), at(now));
    return { period, nextSwitchMs };
  };
  const period = (since: string, until: string): unknown => ({
    period: { targetProfileId: 2, sinceMs: at(since), untilMs: at(until) },
    nextSwitchMs: at(until),
  });
  /** Saturday 20:00 to Sunday 20:00, and from there to Monday 06:00. */
  const WEEKEND = [
    { start: 5 * 48 + 40, end: 6 * 48 + 40 },
    { start: 6 * 48 + 40, end: 12 },
  ];

  it('is the whole time in which the target stays active, over the end of the week and a change of the clock', () => {
    const zone = 'Europe/Berlin';
    expect(explainAt(zone, WEEKEND, '2026-03-29T12:00[Europe/Berlin]')).toEqual(
      period('2026-03-28T20:00[Europe/Berlin]', '2026-03-30T06:00[Europe/Berlin]'),
    );
    expect(explainAt(zone, WEEKEND, '2026-03-28T20:00[Europe/Berlin]')).toEqual(
      period('2026-03-28T20:00[Europe/Berlin]', '2026-03-30T06:00[Europe/Berlin]'),
    );
  });

  it('is null outside of the periods, where the next switch is that to the target', () => {
    expect(explainAt('UTC', WEEKEND, '2026-03-28T19:59:59.999[UTC]')).toEqual({
      period: null,
      nextSwitchMs: at('2026-03-28T20:00[UTC]'),
    });
    expect(explainAt('UTC', [], '2026-03-28T20:00[UTC]')).toEqual({
      period: null,
      nextSwitchMs: null,
    });
  });

  it('has no begin and no end when the whole week is covered, and reaches back almost a week', () => {
    expect(explainAt('UTC', [{ start: 0, end: 0 }], '2026-03-28T20:00[UTC]')).toEqual({
      period: { targetProfileId: 2, sinceMs: null, untilMs: null },
      nextSwitchMs: null,
    });
    const almost = [{ start: 1, end: 0 }];
    expect(explainAt('UTC', almost, '2026-03-29T23:59[UTC]')).toEqual(
      period('2026-03-23T00:30[UTC]', '2026-03-30T00:00[UTC]'),
    );
  });
});
