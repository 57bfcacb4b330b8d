import { type PutOperation, RuleVerdict } from '@weir/config-model';
import { hashDomain, SuffixHashes, toWireName } from '@weir/dns-name';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { Decision, Verdict } from './decision.js';
import { Policy } from './policy.js';
import { SharedPolicyWriter } from './sharing/shared-policy-writer.js';
import { SharedPolicy } from './sharing/shared-policy.js';
import { applicationRule, ipv4Client, KEY, profile, wordsOf } from './testing/fixtures.js';

const QUERIES = 50_000;
const ROUNDS = 9;
const NOW_MS = Date.UTC(2026, 2, 2, 10);
const NETWORK = 0xc000_0200;
/** Beyond 32 bits, so that no small integer has it. */
const LATER = 2 ** 33;

/** No profile blocks the last category. */
const REWRITES = [1, 999_999].map((categoryId) => ({ categoryId, target: new Uint8Array(1) }));

type Decider = Pick<Policy, 'decide'>;

/** A policy in which every structure has something to say. */
function fullPolicy(): Policy {
  const policy = new Policy({ timeZone: 'Europe/Berlin' });
  const hours = [{ start: 20, end: 30 }];
  const lists = { categoryIds: [1, 2], applicationRules: [applicationRule(1, RuleVerdict.deny)] };
  const rule = {
    profileId: 2,
    domainHash: hashDomain('bad.example', KEY),
    verdict: RuleVerdict.deny,
  };
  const { allow, deny } = RuleVerdict;
  const hash = (domain: string): number => hashDomain(domain, KEY);
  const texts = { authority: 'District Court', reference: '1 A 23' };
  const orders = Array.from({ length: 2000 }, (_, id) => {
    const domain = id % 3 === 0 ? 'denied.example' : `denied-${id}.example`;
    return [
      'order',
      { id, domainHash: hash(domain), until: id === 9 ? LATER : 1, ...texts },
    ] as const;
  });
  const entities = [
    ['profile', profile(1, lists)],
    ['profile', profile(2, { ...lists, appawarePriorityOverBwlists: true })],
    ['domainRule', rule],
    ['ipv4Network', { address: NETWORK, prefixLength: 24, profileId: 1 }],
    ['ipv4Network', { address: 0x0a00_0000, prefixLength: 8, profileId: 2 }],
    ['naptAssignment', { address: NETWORK + 1, lowerPort: 0, upperPort: 100, profileId: 2 }],
    ['ipv6Network', { address: wordsOf(6, 0x2001_0db8n << 96n), prefixLength: 32, profileId: 2 }],
    ['schedule', { profileId: 1, targetProfileId: 2, periods: hours }],
    ...orders,
    ['grant', { profileId: 1, domainHash: hash('b.c.example'), verdict: allow, until: LATER }],
    ['grant', { profileId: 2, domainHash: hash('bad.example'), verdict: deny, until: LATER }],
  ] as const;
  for (const [kind, entity] of entities) policy.put({ type: 'put', kind, entity } as PutOperation);
  // More than one block of memory holds.
  const others = Array.from({ length: 2000 }, (_, i) => [
    2,
    hashDomain(`other-${i}.example`, KEY),
    RuleVerdict.deny,
  ]);
  policy.load('domainRule', others);
  // In typed arrays, as a real index is.
  const names = new SuffixHashes(KEY);
  names.compute(toWireName('listed.example'), 0);
  const [high, low] = [names.high[1], names.low[1]];
  policy.setCatalogue({
    shareable: 'this one',
    memberships: Int32Array.of(0, 1, 1, 2, 1),
    mandatoryIds: [7],
    find: (asked, suffix) => (asked.high[suffix] === high && asked.low[suffix] === low ? 1 : 0),
    rewritesOf: () => REWRITES,
    candidateMask: () => -1,
    category: () => undefined,
    applicationName: () => undefined,
  });
  return policy;
}

/** What answers a query as a thread with a shared policy does. */
function sharedDecider(): Decider {
  const writer = new SharedPolicyWriter(1);
  const policy = fullPolicy();
  writer.trySwap(policy, 0);
  const shared = new SharedPolicy(
    writer.connect(0, () => undefined),
    {
      receive: () => undefined,
      openCatalogue: () => policy.catalogue!,
    },
  );
  return {
    decide(client, names, nowMs, out) {
      const verdict = shared.enter()!.decide(client, names, nowMs, out);
      shared.leave();
      return verdict;
    },
  };
}

describe.each([
  ['Policy', fullPolicy],
  ['SharedPolicy', sharedDecider],
])('%s', (_, create) => {
  it('allocates nothing when it decides', () => {
    const policy: Decider = create();
    const names = new SuffixHashes(KEY);
    const wireNames = [
      'www.bad.example',
      'www.listed.example',
      'a.b.c.example',
      'www.denied.example',
    ].map(toWireName);
    const clients = [
      ipv4Client(1),
      ipv4Client(1, 50),
      ipv4Client(2),
      { ...ipv4Client(1), family: 6 as const },
      { family: 4 as const, words: Uint32Array.of(0x0a01_0203, 0, 0, 0), port: 40_000 },
    ];
    const out = new Decision();
    let blocked = 0;
    const ask = (): void => {
      // One number for all: a caller that makes a new one a query may have it boxed.
      const nowMs = NOW_MS;
      for (let i = 0; i < QUERIES; i++) {
        names.compute(wireNames[i % wireNames.length], 0);
        if (policy.decide(clients[i % clients.length], names, nowMs, out) === Verdict.block)
          blocked++;
      }
    };
    for (let i = 0; i < 4; i++) ask();
    const grown: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = getHeapStatistics().used_heap_size;
      ask();
      grown.push(getHeapStatistics().used_heap_size - before);
    }
    expect(blocked).toBeGreaterThan(QUERIES);
    // The median, as a collection or a compilation may fall into some rounds. One small object a query would be
    // 800,000.
    expect(grown.sort((a, b) => a - b)[ROUNDS >> 1]).toBeLessThan(2 * QUERIES);
  });
});
