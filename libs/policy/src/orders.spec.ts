import { type Grant, type Order, type PutOperation, RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import { beforeEach, describe, expect, it } from 'vitest';
import { Decision, NO_TTL_CAP, Reason, Verdict } from './decision.js';
import { Policy } from './policy.js';
import { ipv4Client, KEY, namesOf, profile } from './testing/fixtures.js';
import { MapCatalogue, SECRET_ID } from './testing/map-catalogue.js';

const { allow, deny } = RuleVerdict;
const NOW_MS = Date.UTC(2026, 10, 24, 10);
const NOW = NOW_MS / 1000;
/** Without a profile. */
const STRANGER = ipv4Client(200);

let policy: Policy;
let out: Decision;
beforeEach(() => {
  policy = new Policy({ timeZone: 'UTC' });
  out = new Decision();
  put('profile', profile(1, { pageId: 5, emptyDnsAnswer: true }));
  put('profile', profile(2, { pageId: 6, whiteListOnly: true }));
  put('ipv4Network', { address: 0xc000_0201, prefixLength: 32, profileId: 1 });
});

function put(kind: PutOperation['kind'], entity: PutOperation['entity']): void {
  policy.put({ type: 'put', kind, entity } as PutOperation);
}

function order(id: number, domain: string, more: Partial<Order> = {}): void {
  const texts = { authority: 'District Court', reference: `1 A ${id}` };
  put('order', { id, domainHash: hashDomain(domain, KEY), until: null, ...texts, ...more });
}

function grant(domain: string, verdict: RuleVerdict, until = NOW + 60): void {
  const one: Grant = { profileId: 1, domainHash: hashDomain(domain, KEY), verdict, until };
  put('grant', one);
}

function decide(name: string, from = ipv4Client(1), nowMs = NOW_MS): Decision {
  policy.decide(from, namesOf(name), nowMs, out);
  return out;
}

describe('an order', () => {
  it('denies a name and all below it to everybody, whatever allows it', () => {
    order(7, 'bad.example');
    put('domainRule', {
      profileId: 1,
      domainHash: hashDomain('www.bad.example', KEY),
      verdict: allow,
    });
    grant('www.bad.example', allow);
    const denied = { verdict: Verdict.block, reason: Reason.order, matchedId: 7, matchedLabels: 2 };
    for (const client of [ipv4Client(1), STRANGER]) {
      expect(decide('www.bad.example', client)).toMatchObject({
        ...denied,
        pageId: -1,
        emptyDnsAnswer: false,
        ttlCapSeconds: NO_TTL_CAP,
      });
    }
    expect(decide('example', STRANGER).verdict).toBe(Verdict.unfiltered);
  });

  it('is undone by no flag, application or schedule', () => {
    const listing = { categories: [50], applications: [7] };
    policy.setCatalogue(new MapCatalogue(KEY, new Map([['listed.example', listing]])));
    order(7, 'bad.example');
    put('profile', {
      ...profile(3, { appawarePriorityOverBwlists: true, emptyDnsAnswer: true }),
      applicationRules: [{ applicationId: 7, verdict: allow }],
    });
    put('domainRule', { profileId: 3, domainHash: hashDomain('example', KEY), verdict: allow });
    put('domainRule', { profileId: 2, domainHash: hashDomain('example', KEY), verdict: allow });
    for (const targetProfileId of [3, 2]) {
      put('schedule', { profileId: 1, targetProfileId, periods: [{ start: 0, end: 0 }] });
      for (const [name, reason] of [
        ['bad.example', Reason.order],
        ['listed.example', Reason.mandatoryCategory],
      ] as const) {
        expect(decide(name)).toMatchObject({
          ...{ activeProfileId: targetProfileId, verdict: Verdict.block, reason },
          ...{ pageId: -1, emptyDnsAnswer: false },
        });
      }
      expect(decide('fine.example').verdict).toBe(Verdict.permit);
    }
  });

  it('is shown by the longest suffix, then the lowest id, and before a mandatory category', () => {
    const listing = { categories: [50], applications: [] };
    policy.setCatalogue(new MapCatalogue(KEY, new Map([['a.bad.example', listing]])));
    expect(decide('a.bad.example')).toMatchObject({
      reason: Reason.mandatoryCategory,
      matchedId: 50,
    });
    order(1, 'example');
    order(9, 'bad.example');
    order(3, 'bad.example');
    expect(decide('a.bad.example')).toMatchObject({ reason: Reason.order, matchedId: 3 });
    const texts = { authority: 'District Court', reference: '1 A 3' };
    expect(policy.orders.textsOf(out.orderNumber)).toEqual(texts);
    policy.apply({
      ...{ revision: 1, digest: '' },
      operations: [{ type: 'delete', kind: 'order', key: { id: 3 } }],
    });
    expect(decide('a.bad.example').matchedId).toBe(9);
  });

  it('ends at its second without a change, and no answer outlives it', () => {
    order(1, 'bad.example', { until: NOW + 10 });
    order(2, 'bad.example', { until: NOW + 2 ** 33 });
    const at = (ms: number): Decision => decide('bad.example', STRANGER, NOW_MS + ms);
    expect(at(0)).toMatchObject({ matchedId: 1, ttlCapSeconds: 10 });
    expect(at(1)).toMatchObject({ matchedId: 1, ttlCapSeconds: 9 });
    expect(at(9_999)).toMatchObject({ matchedId: 1, ttlCapSeconds: 1 });
    expect(at(10_000)).toMatchObject({ matchedId: 2, ttlCapSeconds: NO_TTL_CAP });
    expect(at(2 ** 33 * 1000).verdict).toBe(Verdict.unfiltered);
  });

  it('has its texts in UTF-8, also where they do not fit', () => {
    order(1, 'bad.example', { authority: '\u{feff}Gericht Köln', reference: 'Az. 1\u{1f600}' });
    const { orderNumber } = decide('bad.example');
    expect(policy.orders.textsOf(orderNumber)).toEqual({
      authority: '\u{feff}Gericht Köln',
      reference: 'Az. 1\u{1f600}',
    });
    const bytes = new Uint8Array(12);
    expect(policy.orders.copyReference(orderNumber, bytes, 1)).toBe(9);
    expect(new TextDecoder().decode(bytes.subarray(1, 10))).toBe('Az. 1\u{1f600}');
    expect(policy.orders.copyReference(orderNumber, bytes, 8)).toBe(4);
    expect(bytes.subarray(8)).toEqual(new TextEncoder().encode('Az. '));
  });
});

describe('a secret category', () => {
  it('denies to everybody, and is named in no explanation', () => {
    const listing = { categories: [SECRET_ID], applications: [] };
    policy.setCatalogue(new MapCatalogue(KEY, new Map([['bad.example', listing]])));
    expect(decide('www.bad.example', STRANGER).reason).toBe(Reason.mandatoryCategory);
    const hidden = { matchedLabels: 0, matchedId: -1 };
    for (const client of [ipv4Client(1), STRANGER]) {
      const { decision, steps } = policy.explain(client, namesOf('www.bad.example'), NOW_MS);
      expect(decision).toMatchObject({ verdict: Verdict.block, ...hidden });
      expect(steps[0]).toEqual({ step: Reason.mandatoryCategory, verdict: deny, ...hidden });
    }
  });
});

describe('a grant', () => {
  it('comes before the ladder, longest suffix first, until its second', () => {
    put('domainRule', { profileId: 1, domainHash: hashDomain('game.example', KEY), verdict: deny });
    grant('game.example', allow);
    grant('chat.game.example', deny, NOW + 5);
    expect(decide('www.game.example')).toMatchObject({
      ...{ verdict: Verdict.permit, reason: Reason.grant, explicitAllow: true },
      ...{ matchedLabels: 2, matchedId: -1, ttlCapSeconds: 60 },
    });
    expect(decide('chat.game.example')).toMatchObject({
      ...{ verdict: Verdict.block, reason: Reason.grant, pageId: 5, emptyDnsAnswer: true },
      ttlCapSeconds: 5,
    });
    expect(decide('chat.game.example', ipv4Client(1), NOW_MS + 5000).verdict).toBe(Verdict.permit);
    expect(decide('www.game.example', ipv4Client(1), NOW_MS + 60_000)).toMatchObject({
      ...{ verdict: Verdict.block, reason: Reason.domainRule },
    });
  });

  it('holds whichever profile the schedule has made active, and answers with the page of its own', () => {
    put('schedule', { profileId: 1, targetProfileId: 2, periods: [{ start: 0, end: 0 }] });
    grant('game.example', allow);
    grant('chat.example', deny);
    expect(decide('game.example')).toMatchObject({ activeProfileId: 2, verdict: Verdict.permit });
    expect(decide('chat.example')).toMatchObject({
      activeProfileId: 2,
      pageId: 5,
      emptyDnsAnswer: true,
    });
    expect(decide('other.example')).toMatchObject({ pageId: 6, emptyDnsAnswer: false });
    policy.put({
      ...{ type: 'put', kind: 'grant' },
      entity: {
        profileId: 2,
        domainHash: hashDomain('other.example', KEY),
        verdict: allow,
        until: NOW + 9,
      },
    });
    expect(decide('other.example').verdict).toBe(Verdict.block);
  });
});
