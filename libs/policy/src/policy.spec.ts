import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Change,
  EMPTY_DIGEST,
  type Operation,
  type PutOperation,
  RowError,
  RuleVerdict,
} from '@weir/config-model';
import { hashDomain, normaliseDomain } from '@weir/dns-name';
import { Decision, NO_TTL_CAP, Reason, Verdict } from './decision.js';
import { Policy } from './policy.js';
import { PolicyError } from './check-operation.js';
import {
  applicationRule,
  client,
  ipv4Client,
  KEY,
  namesOf,
  profile,
  wordsOf,
} from './testing/fixtures.js';
import { type Listing, MapCatalogue } from './testing/map-catalogue.js';

const { allow, deny } = RuleVerdict;
/** Monday. */
const NOW_MS = Date.UTC(2026, 2, 2, 10);
const NETWORK = 0xc000_0200;

let policy: Policy;
let out: Decision;
beforeEach(() => {
  policy = new Policy({ timeZone: 'UTC' });
  out = new Decision();
});

function put(...operations: Omit<PutOperation, 'type'>[]): void {
  for (const one of operations) policy.put({ type: 'put', ...one } as PutOperation);
}

function change(...operations: Operation[]): Change {
  return { revision: policy.revision + 1, digest: EMPTY_DIGEST, operations };
}

function rule(profileId: number, domain: string, verdict: RuleVerdict): Omit<PutOperation, 'type'> {
  const domainHash = hashDomain(normaliseDomain(domain), KEY);
  return { kind: 'domainRule', entity: { profileId, domainHash, verdict } };
}

function network(profileId: number, prefixLength = 24): Omit<PutOperation, 'type'> {
  return { kind: 'ipv4Network', entity: { address: NETWORK, prefixLength, profileId } };
}

function list(listings: Record<string, Partial<Listing>>): void {
  const entries = Object.entries(listings).map(
    ([domain, { categories = [], applications = [] }]) =>
      [domain, { categories, applications }] as const,
  );
  policy.setCatalogue(new MapCatalogue(KEY, new Map(entries)));
}

function decide(name: string, from = ipv4Client(1), nowMs = NOW_MS): Decision {
  policy.decide(from, namesOf(name), nowMs, out);
  return out;
}

describe('Policy.decide', () => {
  it('leaves a client without a profile unfiltered', () => {
    expect(decide('www.example.com')).toMatchObject({
      verdict: Verdict.unfiltered,
      reason: Reason.noProfile,
      profileId: -1,
      activeProfileId: -1,
      pageId: -1,
      ttlCapSeconds: NO_TTL_CAP,
    });
  });

  it('tells that an address has NAPT ranges, but none with the port', () => {
    const naptAssignment = { address: NETWORK + 1, lowerPort: 1024, upperPort: 2047, profileId: 7 };
    put(
      { kind: 'profile', entity: profile(7) },
      { kind: 'naptAssignment', entity: naptAssignment },
    );
    const reasonAt = (host: number, port: number) =>
      decide('www.example.com', ipv4Client(host, port)).reason;
    expect(reasonAt(1, 1024)).toBe(Reason.none);
    expect(reasonAt(1, 1023)).toBe(Reason.outsideRanges);
    expect(reasonAt(2, 1023)).toBe(Reason.noProfile);
    // The network of the address comes after its ranges.
    put(network(7));
    expect(reasonAt(1, 1023)).toBe(Reason.none);
  });

  it('permits a name that nothing matches', () => {
    put({ kind: 'profile', entity: profile(7, { pageId: 3, emptyDnsAnswer: true }) }, network(7));
    expect(decide('www.example.com')).toMatchObject({
      verdict: Verdict.permit,
      reason: Reason.none,
      explicitAllow: false,
      profileId: 7,
      activeProfileId: 7,
    });
  });

  it('lets the most specific domain rule decide, and returns the number of its labels', () => {
    put(
      { kind: 'profile', entity: profile(7) },
      network(7),
      rule(7, 'example.com', deny),
      rule(7, 'good.example.com', allow),
      rule(7, 'com', allow),
    );
    expect(decide('www.example.com')).toMatchObject({
      verdict: Verdict.block,
      reason: Reason.domainRule,
      matchedLabels: 2,
    });
    expect(decide('a.good.example.com')).toMatchObject({
      verdict: Verdict.permit,
      explicitAllow: true,
      matchedLabels: 3,
    });
    expect(decide('other.com')).toMatchObject({
      verdict: Verdict.permit,
      explicitAllow: true,
      matchedLabels: 1,
    });
    expect(decide('example.net')).toMatchObject({
      verdict: Verdict.permit,
      explicitAllow: false,
      reason: Reason.none,
    });
  });

  it('keeps the rules of one profile from another', () => {
    put(
      { kind: 'profile', entity: profile(7) },
      { kind: 'profile', entity: profile(8) },
      network(7),
      rule(8, 'example.com', deny),
    );
    expect(decide('example.com').verdict).toBe(Verdict.permit);
  });

  it('blocks by a category of the name or of any parent', () => {
    list({ 'example.com': { categories: [12] }, 'www.example.com': { categories: [3] } });
    put({ kind: 'profile', entity: profile(7, { categoryIds: [5, 12] }) }, network(7));
    expect(decide('a.www.example.com')).toMatchObject({
      verdict: Verdict.block,
      reason: Reason.category,
      matchedId: 12,
      matchedLabels: 2,
    });
    expect(decide('com').verdict).toBe(Verdict.permit);
  });

  it('gives the blocked category with the lowest id as the reason (decisions §12)', () => {
    list({ 'example.com': { categories: [3, 12] }, 'www.example.com': { categories: [5, 12] } });
    put({ kind: 'profile', entity: profile(7, { categoryIds: [3, 5, 12] }) }, network(7));
    expect(decide('a.www.example.com')).toMatchObject({ matchedId: 3, matchedLabels: 2 });
    put({ kind: 'profile', entity: profile(7, { categoryIds: [12] }) });
    expect(decide('a.www.example.com')).toMatchObject({ matchedId: 12, matchedLabels: 3 });
  });

  it('permits an allowed application in a blocked category', () => {
    list({ 'video.example': { categories: [8], applications: [1] } });
    put(
      {
        kind: 'profile',
        entity: profile(7, { categoryIds: [8], applicationRules: [applicationRule(1, allow)] }),
      },
      network(7),
    );
    expect(decide('www.video.example')).toMatchObject({
      verdict: Verdict.permit,
      reason: Reason.applicationRule,
      explicitAllow: true,
      matchedId: 1,
      matchedLabels: 2,
    });
  });

  it('lets allow win where two applications share a domain, and the most specific application otherwise', () => {
    list({
      'shared.example': { applications: [1, 2] },
      'cdn.shared.example': { applications: [1] },
      'img.shared.example': { applications: [9] },
    });
    const applicationRules = [applicationRule(1, deny), applicationRule(2, allow)];
    put({ kind: 'profile', entity: profile(7, { applicationRules }) }, network(7));
    expect(decide('shared.example')).toMatchObject({ verdict: Verdict.permit, matchedId: 2 });
    expect(decide('cdn.shared.example')).toMatchObject({ verdict: Verdict.block, matchedId: 1 });
    expect(decide('img.shared.example')).toMatchObject({
      verdict: Verdict.permit,
      matchedId: 2,
      matchedLabels: 2,
    });
  });

  it.each([
    { appawarePriorityOverBwlists: false, verdict: Verdict.permit, reason: Reason.domainRule },
    { appawarePriorityOverBwlists: true, verdict: Verdict.block, reason: Reason.applicationRule },
  ])(
    'orders lists and applications by the switch ($appawarePriorityOverBwlists)',
    ({ appawarePriorityOverBwlists, ...expected }) => {
      list({ 'video.example': { applications: [1] } });
      const applicationRules = [applicationRule(1, deny)];
      put(
        { kind: 'profile', entity: profile(7, { applicationRules, appawarePriorityOverBwlists }) },
        network(7),
        rule(7, 'video.example', allow),
      );
      expect(decide('video.example')).toMatchObject(expected);
    },
  );

  it('blocks every name that no rule allows when white_list_only is set', () => {
    list({ 'video.example': { applications: [1] } });
    put(
      {
        kind: 'profile',
        entity: profile(7, { whiteListOnly: true, applicationRules: [applicationRule(1, allow)] }),
      },
      network(7),
      rule(7, 'good.example', allow),
    );
    expect(decide('good.example').verdict).toBe(Verdict.permit);
    expect(decide('video.example').verdict).toBe(Verdict.permit);
    expect(decide('other.example')).toMatchObject({
      verdict: Verdict.block,
      reason: Reason.whiteListOnly,
      matchedLabels: 0,
    });
  });

  it('matches nothing by category or application without a catalogue', () => {
    list({ 'video.example': { categories: [8] } });
    put({ kind: 'profile', entity: profile(7, { categoryIds: [8] }) }, network(7));
    expect(decide('video.example').verdict).toBe(Verdict.block);
    policy.setCatalogue(null);
    expect(decide('video.example').verdict).toBe(Verdict.permit);
  });

  it('forgets the match of one query before the next', () => {
    list({ 'a.example': { categories: [1] } });
    put({ kind: 'profile', entity: profile(7, { categoryIds: [1] }) }, network(7));
    decide('a.example');
    expect(decide('b.example')).toMatchObject({ matchedId: -1, matchedLabels: 0 });
    expect(decide('a.example', ipv4Client(300))).toMatchObject({
      verdict: Verdict.unfiltered,
      reason: Reason.noProfile,
      matchedId: -1,
      activeSlot: -1,
      emptyDnsAnswer: false,
    });
  });

  it('judges the root by white_list_only alone', () => {
    put({ kind: 'profile', entity: profile(7, { whiteListOnly: true }) }, network(7));
    const names = namesOf('example');
    names.compute(Uint8Array.of(0), 0);
    policy.decide(ipv4Client(1), names, NOW_MS, out);
    expect(out).toMatchObject({ verdict: Verdict.block, reason: Reason.whiteListOnly });
  });
});

describe('Policy.identify', () => {
  it('prefers the narrowest NAPT range, then the longest network', () => {
    for (const id of [1, 2, 3, 4]) put({ kind: 'profile', entity: profile(id) });
    put(network(1, 24), {
      kind: 'ipv4Network',
      entity: { address: NETWORK + 8, prefixLength: 29, profileId: 2 },
    });
    for (const [lowerPort, upperPort, profileId] of [
      [0, 32_767, 3],
      [1024, 2047, 4],
    ]) {
      put({
        kind: 'naptAssignment',
        entity: { address: NETWORK + 9, lowerPort, upperPort, profileId },
      });
    }
    const profileOf = (host: number, port: number): number =>
      decide('example', ipv4Client(host, port)).profileId;
    expect([
      profileOf(1, 5),
      profileOf(10, 5),
      profileOf(9, 5),
      profileOf(9, 1500),
      profileOf(9, 60_000),
    ]).toEqual([1, 2, 3, 4, 2]);
  });

  it('finds IPv6 networks', () => {
    const address = 0x2001_0db8_0000_0001_0000_0000_0000_0000n;
    put(
      { kind: 'profile', entity: profile(7) },
      {
        kind: 'ipv6Network',
        entity: { address: wordsOf(6, address), prefixLength: 64, profileId: 7 },
      },
    );
    expect(decide('example', client(6, address + 99n)).profileId).toBe(7);
    expect(decide('example', client(6, address + (1n << 64n))).profileId).toBe(-1);
  });

  it('does not match an IPv6 address with the IPv4 network of its first bits', () => {
    put({ kind: 'profile', entity: profile(7) }, network(7));
    expect(decide('example', client(6, BigInt(NETWORK) << 96n)).profileId).toBe(-1);
  });

  it('lets the target of a schedule decide during its periods, and ignores the schedule of the target', () => {
    put(
      { kind: 'profile', entity: profile(1, { pageId: 11 }) },
      { kind: 'profile', entity: profile(2, { pageId: 22, emptyDnsAnswer: true }) },
      { kind: 'profile', entity: profile(3) },
      network(1),
      rule(2, 'example.com', deny),
      // Monday 10:00 to 10:30, and the target's own schedule, which does not count.
      {
        kind: 'schedule',
        entity: { profileId: 1, targetProfileId: 2, periods: [{ start: 20, end: 21 }] },
      },
      {
        kind: 'schedule',
        entity: { profileId: 2, targetProfileId: 3, periods: [{ start: 0, end: 0 }] },
      },
    );
    expect(decide('example.com')).toMatchObject({
      verdict: Verdict.block,
      profileId: 1,
      activeProfileId: 2,
      pageId: 22,
      emptyDnsAnswer: true,
      ttlCapSeconds: 1800,
    });
    expect(decide('example.com', ipv4Client(1), NOW_MS + 1_799_500)).toMatchObject({
      ttlCapSeconds: 1,
      activeProfileId: 2,
    });
    expect(decide('example.com', ipv4Client(1), NOW_MS + 1_800_000)).toMatchObject({
      verdict: Verdict.permit,
      activeProfileId: 1,
      ttlCapSeconds: 7 * 86_400 - 1800,
    });
  });

  it('has no TTL cap for a schedule that never switches', () => {
    put(
      { kind: 'profile', entity: profile(1) },
      { kind: 'profile', entity: profile(2) },
      network(1),
      { kind: 'schedule', entity: { profileId: 1, targetProfileId: 2, periods: [] } },
    );
    expect(decide('example.com')).toMatchObject({ activeProfileId: 1, ttlCapSeconds: NO_TTL_CAP });
  });
});

describe('Policy.judge', () => {
  it('judges CNAME targets by the profile that identify found', () => {
    put({ kind: 'profile', entity: profile(7) }, network(7), rule(7, 'target.example', deny));
    expect(decide('alias.example').verdict).toBe(Verdict.permit);
    policy.judge(namesOf('target.example'), out);
    expect(out).toMatchObject({ verdict: Verdict.block, profileId: 7 });
  });
});

describe('Policy.apply', () => {
  it('sets the revision, and updates the digest for every put, replacement and delete', () => {
    policy.apply(change({ type: 'put', ...rule(7, 'example.com', deny) } as PutOperation));
    const digestOfOne = policy.digest();
    expect([policy.revision, policy.counts().domainRule]).toEqual([1, 1]);
    put(rule(7, 'example.com', allow));
    expect(policy.digest()).not.toBe(digestOfOne);
    put(rule(7, 'example.com', deny));
    expect(policy.digest()).toBe(digestOfOne);
    const domainHash = hashDomain('example.com', KEY);
    policy.apply(change({ type: 'delete', kind: 'domainRule', key: { profileId: 7, domainHash } }));
    expect([policy.digest(), policy.revision]).toEqual([EMPTY_DIGEST, 2]);
  });

  it('changes nothing when it deletes an entity that does not exist, so that the digest differs', () => {
    put({ kind: 'profile', entity: profile(7) }, network(7));
    const before = policy.digest();
    const domainHash = hashDomain('example.com', KEY);
    policy.apply(
      change(
        { type: 'delete', kind: 'domainRule', key: { profileId: 9, domainHash } },
        { type: 'delete', kind: 'profile', key: { id: 9 } },
        { type: 'delete', kind: 'schedule', key: { profileId: 9 } },
        { type: 'delete', kind: 'ipv4Network', key: { address: NETWORK, prefixLength: 25 } },
        { type: 'delete', kind: 'naptAssignment', key: { address: 1, lowerPort: 0, upperPort: 1 } },
        { type: 'delete', kind: 'blockPage', key: { id: 1 } },
        { type: 'delete', kind: 'catalogue', key: {} },
      ),
    );
    expect([policy.digest(), policy.revision, policy.counts().profile]).toEqual([before, 1, 1]);
  });

  it('accepts a network before the profile that it refers to', () => {
    put(network(7), rule(7, 'example.com', deny));
    expect(decide('example.com').verdict).toBe(Verdict.unfiltered);
    put({ kind: 'profile', entity: profile(7) });
    expect(decide('example.com').verdict).toBe(Verdict.block);
    policy.apply(change({ type: 'delete', kind: 'profile', key: { id: 7 } }));
    expect(decide('example.com').verdict).toBe(Verdict.unfiltered);
  });

  it('uses the own profile while the target of its schedule does not exist', () => {
    put({ kind: 'profile', entity: profile(1, { whiteListOnly: true }) }, network(1), {
      kind: 'schedule',
      entity: { profileId: 1, targetProfileId: 2, periods: [{ start: 0, end: 0 }] },
    });
    expect(decide('example.com')).toMatchObject({ verdict: Verdict.block, activeProfileId: 1 });
  });

  it.each<[string, Operation]>([
    ['a reload', { type: 'reload' }],
    [
      'an IPv4 network with host bits',
      {
        type: 'put',
        kind: 'ipv4Network',
        entity: { address: NETWORK + 1, prefixLength: 24, profileId: 1 },
      },
    ],
    [
      'an IPv6 network with host bits',
      {
        type: 'delete',
        kind: 'ipv6Network',
        key: { address: [0x2001_0db8, 1, 0, 0], prefixLength: 48 },
      },
    ],
    [
      'categories out of order',
      { type: 'put', kind: 'profile', entity: profile(1, { categoryIds: [2, 1] }) },
    ],
    [
      'an application twice',
      {
        type: 'put',
        kind: 'profile',
        entity: profile(1, {
          applicationRules: [applicationRule(1, allow), applicationRule(1, deny)],
        }),
      },
    ],
  ])('refuses %s, and with it the whole change', (_, bad) => {
    const good: Operation = { type: 'put', kind: 'profile', entity: profile(5) };
    expect(() => policy.apply(change(good, bad, good))).toThrow(PolicyError);
    expect([policy.revision, policy.digest(), policy.counts().profile]).toEqual([
      0,
      EMPTY_DIGEST,
      0,
    ]);
  });
});

describe('Policy.blockPage', () => {
  it('has the block pages that were put and not deleted', () => {
    policy.put({ type: 'put', kind: 'blockPage', entity: { id: 7, type: 1 } });
    expect(policy.blockPage(7)).toEqual({ id: 7, type: 1 });
    expect(policy.blockPage(8)).toBeUndefined();
    const operations = [{ type: 'delete', kind: 'blockPage', key: { id: 7 } } as const];
    policy.apply({ revision: 1, digest: '', operations });
    expect(policy.blockPage(7)).toBeUndefined();
  });
});

describe('Policy', () => {
  it('refuses a time zone that does not exist', () => {
    expect(() => new Policy({ timeZone: 'Mars/Base' })).toThrow(PolicyError);
  });

  it('has the revision that setRevision gave', () => {
    policy.setRevision(41);
    expect(policy.revision).toBe(41);
  });
});

describe('Policy.load', () => {
  it('puts rows as `put` puts their entities, and replaces existing ones', () => {
    const rows = Array.from({ length: 1000 }, (_, i) => [i >> 4, i % 700, 1 + (i % 2)]);
    const loaded = new Policy({ timeZone: 'UTC' });
    loaded.load('domainRule', rows);
    for (const [profileId, domainHash, verdict] of rows) {
      const entity = { profileId, domainHash, verdict: verdict as RuleVerdict };
      put({ kind: 'domainRule', entity });
    }
    loaded.load('domainRule', rows.slice(0, 10));
    expect(loaded.digest()).toBe(policy.digest());
    expect(loaded.counts()).toEqual(policy.counts());
    expect(loaded.memory()).toEqual(policy.memory());
  });

  it.each([
    ['no list', 7],
    ['a short row', [1, 2]],
    ['a hash of more than 53 bits', [1, 2 ** 53, 1]],
    ['an unknown verdict', [1, 2, 3]],
    ['a profile id that is no integer', [1.5, 2, 1]],
  ])('refuses %s', (_, row) => {
    expect(() => policy.load('domainRule', [[1, 2, 1], row])).toThrow(RowError);
  });

  it('puts networks as `put` puts their entities, and replaces existing ones', () => {
    const rows = Array.from({ length: 1000 }, (_, i) => [(NETWORK + i * 4) >>> 0, 30, i % 7]);
    const loaded = new Policy({ timeZone: 'UTC' });
    loaded.load('ipv4Network', rows);
    loaded.load('ipv4Network', [[NETWORK, 30, 9]]);
    for (const [address, prefixLength, profileId] of [...rows, [NETWORK, 30, 9]]) {
      put({ kind: 'ipv4Network', entity: { address, prefixLength, profileId } });
    }
    expect(loaded.digest()).toBe(policy.digest());
    expect(loaded.counts()).toEqual(policy.counts());
    expect(loaded.memory()).toEqual(policy.memory());
  });

  it('refuses networks with host bits as `put` does', () => {
    expect(() => policy.load('ipv4Network', [[NETWORK + 1, 24, 1]])).toThrow(PolicyError);
    expect(() => policy.load('ipv4Network', [[1, 0, 1]])).toThrow(PolicyError);
  });

  it.each([
    ['a short row', [NETWORK, 24]],
    ['an address of more than 32 bits', [2 ** 32, 32, 1]],
    ['a prefix of more than 32 bits', [NETWORK, 33, 1]],
    ['a profile id of more than 31 bits', [NETWORK, 24, 2 ** 31]],
  ])('refuses a network with %s', (_, row) => {
    expect(() => policy.load('ipv4Network', [row])).toThrow(RowError);
  });
});

describe('a name of more labels than a mask has bits', () => {
  it('is judged by the rules and memberships of its longest suffixes', () => {
    const long = `${'a.'.repeat(60)}example`;
    put({ kind: 'profile', entity: profile(1, { categoryIds: [5] }) }, network(1));
    list({ [`b.${long}`]: { categories: [5] } });
    policy.decide(ipv4Client(1), namesOf(`c.b.${long}`), NOW_MS, out);
    expect([out.reason, out.matchedLabels]).toEqual([Reason.category, 62]);
    put(rule(1, `c.b.${long}`, allow));
    policy.decide(ipv4Client(1), namesOf(`d.c.b.${long}`), NOW_MS, out);
    expect([out.reason, out.matchedLabels]).toEqual([Reason.domainRule, 63]);
  });
});
