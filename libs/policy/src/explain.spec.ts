import { type PutOperation, RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import { beforeEach, describe, expect, it } from 'vitest';
import { Policy } from './policy.js';
import {
  applicationRule,
  client,
  ipv4Client,
  KEY,
  namesOf,
  profile,
  wordsOf,
} from './testing/fixtures.js';
import { MapCatalogue } from './testing/map-catalogue.js';

const { allow, deny } = RuleVerdict;
/** Monday. */
const NOW_MS = Date.UTC(2026, 2, 2, 10);
const NETWORK = 0xc000_0200;
const NETWORK6 = wordsOf(6, 0x2001_0db8n << 96n);

let policy: Policy;
beforeEach(() => {
  policy = new Policy({ timeZone: 'UTC' });
  const listing = { categories: [12], applications: [3] };
  policy.setCatalogue(new MapCatalogue(KEY, new Map([['bet.example', listing]])));
  const ruleOf = (domain: string, verdict: RuleVerdict): PutOperation['entity'] => ({
    profileId: 1,
    domainHash: hashDomain(domain, KEY),
    verdict,
  });
  const entities = [
    ['profile', profile(1, { pageId: 5 })],
    [
      'profile',
      profile(2, {
        categoryIds: [12, 13],
        applicationRules: [applicationRule(9, deny)],
        emptyDnsAnswer: true,
      }),
    ],
    [
      'profile',
      profile(4, {
        whiteListOnly: true,
        appawarePriorityOverBwlists: true,
        applicationRules: [applicationRule(3, allow)],
      }),
    ],
    ['domainRule', ruleOf('bad.example', deny)],
    ['domainRule', ruleOf('example', allow)],
    ['ipv4Network', { address: NETWORK, prefixLength: 24, profileId: 1 }],
    ['ipv4Network', { address: NETWORK + 8, prefixLength: 29, profileId: 4 }],
    ['ipv6Network', { address: NETWORK6, prefixLength: 32, profileId: 77 }],
    ['naptAssignment', { address: NETWORK + 1, lowerPort: 1024, upperPort: 2047, profileId: 2 }],
    ['schedule', { profileId: 1, targetProfileId: 2, periods: [{ start: 21, end: 22 }] }],
    ['schedule', { profileId: 4, targetProfileId: 66, periods: [{ start: 0, end: 0 }] }],
  ] as const;
  for (const [kind, entity] of entities) policy.put({ type: 'put', kind, entity } as PutOperation);
});

function lines(from: ReturnType<typeof client>, name: string, nowMs = NOW_MS): readonly string[] {
  return policy.explain(from, namesOf(name), nowMs).lines;
}

describe('Policy.explain', () => {
  it('names the domain rule that decided, and the time of the next schedule switch', () => {
    expect(lines(ipv4Client(1), 'www.bad.example')).toEqual([
      'subscriber: IPv4 network /24, profile 1',
      'schedule: outside of its periods until 2026-03-02T10:30:00.000Z, profile 1 decides',
      'order: domain rules before application rules',
      'domain rules: the last 2 labels of the name denied: this decides',
      'verdict: block, block page 5',
      'next switch: in 1800 s, no answer lives longer',
    ]);
    expect(lines(ipv4Client(1), 'good.example')[3]).toBe(
      'domain rules: the last label of the name allowed: this decides',
    );
  });

  it('has a line for every step before the one that decided', () => {
    expect(lines(ipv4Client(1), 'www.bet.example', NOW_MS + 1_800_000)).toEqual([
      'subscriber: IPv4 network /24, profile 1',
      'schedule: inside a period until 2026-03-02T11:00:00.000Z, profile 2 decides',
      'order: domain rules before application rules',
      'domain rules: none of 0 is for the name or a parent',
      'application rules: none of 1 lists the name or a parent',
      'white_list_only: off',
      'categories: 12, which lists the last 2 labels of the name, blocked: this decides',
      'verdict: block, empty answer',
      'next switch: in 1800 s, no answer lives longer',
    ]);
  });

  it('names the NAPT range, and says that no rule and no category matches the name', () => {
    expect(lines(ipv4Client(1, 2047), 'other.example')).toEqual([
      'subscriber: NAPT range 1024–2047, profile 2',
      'schedule: none, profile 2 decides',
      'order: domain rules before application rules',
      'domain rules: none of 0 is for the name or a parent',
      'application rules: none of 1 lists the name or a parent',
      'white_list_only: off',
      'categories: none of 2 blocked lists the name or a parent',
      'no rule and no category matches the name',
      'verdict: permit, unless what its answer leads to is blocked (INSPECT_CNAME)',
      'next switch: none',
    ]);
  });

  it('says that there is no catalogue', () => {
    policy.setCatalogue(null);
    expect(lines(ipv4Client(1, 2047), 'bet.example').slice(3, 8)).toEqual([
      'domain rules: none of 0 is for the name or a parent',
      'application rules: none of 1 is asked, as there is no catalogue',
      'white_list_only: off',
      'categories: none of 2 blocked is asked, as there is no catalogue',
      'no rule and no category matches the name',
    ]);
  });

  it('names the order of a profile with application rules first, and a schedule target that does not exist', () => {
    expect(lines(ipv4Client(9), 'bet.example')).toEqual([
      'subscriber: IPv4 network /29, profile 4',
      'schedule: inside a period for good, but its target profile 66 does not exist, profile 4 decides',
      'order: application rules before domain rules (appaware_priority_over_bwlists)',
      'application rules: application 3, which lists the last 2 labels of the name, allowed: this decides',
      'verdict: permit, whatever its answer leads to',
      'next switch: none',
    ]);
    expect(lines(ipv4Client(9), 'other.example').slice(3)).toEqual([
      'application rules: none of 1 lists the name or a parent',
      'domain rules: none of 0 is for the name or a parent',
      'white_list_only: on, and no rule allows the name: this decides',
      'verdict: block, default block page',
      'next switch: none',
    ]);
  });

  it('says why a client is unfiltered', () => {
    expect(lines(client(4, 0xcb00_7101n), 'bad.example')).toEqual([
      'subscriber: no NAPT range and no network, no profile',
      'verdict: unfiltered, or refused (DNS_ALLOWED_CLIENTS)',
    ]);
    expect(lines(client(6, (0x2001_0db8n << 96n) + 1n), 'bad.example')).toEqual([
      'subscriber: IPv6 network /32, profile 77, which does not exist',
      'verdict: unfiltered, or refused (DNS_ALLOWED_CLIENTS)',
    ]);
  });
});
