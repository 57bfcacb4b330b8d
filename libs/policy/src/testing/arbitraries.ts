import { MAX_UNTIL, type Operation, RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import fc from 'fast-check';
import { KEY, wordsOf } from './fixtures.js';
import type { Listing } from './map-catalogue.js';
import type { OracleClient } from './policy-oracle.js';

/*
 * Small worlds in which things meet: few profiles, addresses that share long and short prefixes, names below one
 * another. So networks and ranges nest, categories overlap, and applications share names and lie within each other.
 */

/** When the weeks begin that are asked about. */
export const WEEKS = [
  ...[Date.UTC(2026, 0, 3), Date.UTC(2026, 2, 28), Date.UTC(2026, 9, 24)],
  ...[Date.UTC(2026, 2, 7), Date.UTC(2026, 3, 4), Date.UTC(2026, 6, 1)],
] as const;

const profileId = fc.constantFrom(0, 1, 2, 7, 2_147_483_647);
const verdict = fc.constantFrom(RuleVerdict.allow, RuleVerdict.deny);
const ascending = fc
  .uniqueArray(fc.constantFrom(0, 1, 3, 12, 99, 2_147_483_647), { maxLength: 4 })
  .map((ids) => ids.sort((a, b) => a - b));

/**
 * Names below `example`: mostly so few that rules, memberships and questions meet, some of other
 * labels, and some with about as many as a mask of suffixes has bits, or as many as there can be.
 */
export const name: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 8, arbitrary: fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom('a', 'xn--bcher-kva', '_dns'), { maxLength: 5 }),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(29, 30, 31, 32, 40, 123)
        .map((count) => Array.from({ length: count }, () => 'a')),
    },
  )
  .map((labels) => [...labels, 'example'].join('.'));

const profile = fc.record({
  id: profileId,
  pageId: fc.option(fc.constantFrom(0, 5)),
  whiteListOnly: fc.nat({ max: 3 }).map((dice) => dice === 0),
  emptyDnsAnswer: fc.boolean(),
  appawarePriorityOverBwlists: fc.boolean(),
  categoryIds: ascending,
  applicationRules: fc
    .tuple(ascending, fc.array(verdict, { minLength: 4, maxLength: 4 }))
    .map(([ids, verdicts]) =>
      ids.map((applicationId, i) => ({ applicationId, verdict: verdicts[i] })),
    ),
});

const address4 = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[0xc000_0201n, 0xc000_0202n, 0xc000_02ffn, 0xc633_6401n, 0n, 0xffff_ffffn],
    ),
  },
  { weight: 1, arbitrary: fc.nat({ max: 255 }).map((host) => 0xcb00_7100n + BigInt(host)) },
);
const SITE = 0x2001_0db8_0000_0000_0000_0000_0000_0000n;
const address6 = fc.oneof(
  fc.constantFrom(SITE + 1n, SITE + (1n << 64n) + 1n, SITE + (1n << 95n), (1n << 128n) - 1n),
  fc
    .tuple(fc.nat({ max: 126 }), fc.nat({ max: 3 }))
    .map(([at, bits]) => SITE ^ (BigInt(bits) << BigInt(at))),
);
const port = fc.constantFrom(0, 1023, 1024, 1100, 1535, 1536, 2047, 2048, 40_000, 65_535);

function masked(address: bigint, width: number, length: number): bigint {
  const hostBits = BigInt(width - length);
  return (address >> hostBits) << hostBits;
}

const network4 = fc
  .tuple(
    address4,
    fc.oneof(fc.constantFrom(10, 16, 24), fc.integer({ min: 10, max: 32 })),
    profileId,
  )
  .map(([address, prefixLength, id]) => ({
    address: wordsOf(4, masked(address, 32, prefixLength))[0],
    prefixLength,
    profileId: id,
  }));
const network6 = fc
  .tuple(
    address6,
    fc.oneof(fc.constantFrom(16, 32, 64), fc.integer({ min: 16, max: 128 })),
    profileId,
  )
  .map(([address, prefixLength, id]) => ({
    address: wordsOf(6, masked(address, 128, prefixLength)),
    prefixLength,
    profileId: id,
  }));
/** Any two hold each other or are apart. */
const napt = fc
  .tuple(
    address4,
    fc.constantFrom([0, 65_535], [1024, 2047], [1024, 1535], [1536, 2047], [1100, 1100], [0, 1023]),
    profileId,
  )
  .map(([address, [lowerPort, upperPort], id]) => ({
    address: wordsOf(4, address)[0],
    lowerPort,
    upperPort,
    profileId: id,
  }));
const weekPoint = fc.nat({ max: 335 });
const schedule = fc
  .record({
    profileId,
    targetProfileId: profileId,
    periods: fc.array(fc.record({ start: weekPoint, end: weekPoint }), { maxLength: 4 }),
  })
  .filter((one) => one.profileId !== one.targetProfileId);
const domainHash = name.map((domain) => hashDomain(domain, KEY));
const domainRule = fc.record({ profileId, domainHash, verdict });
/** In or near the weeks that are asked about, or far from them. */
const until = fc.oneof(
  fc
    .tuple(fc.constantFrom(...WEEKS), fc.nat({ max: 7 * 86_400 }))
    .map(([fromMs, seconds]) => fromMs / 1000 + seconds),
  fc.constantFrom(0, 2 ** 31, 2 ** 32 - 1, 2 ** 32, MAX_UNTIL),
);
const orderText = fc.oneof(
  fc.constantFrom('x', 'District Court of Example', 'Az. 1\u{1f600}'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
);
const order = fc.record({
  id: fc.constantFrom(0, 1, 2, 3, 2_147_483_647),
  domainHash,
  until: fc.option(until),
  authority: orderText,
  reference: orderText,
});
const grant = fc.record({ profileId, domainHash, verdict, until });
const catalogue = fc.record({
  version: fc.nat(),
  sha256: fc.constantFrom('0'.repeat(64), 'f'.repeat(64)),
  sizeBytes: fc.nat(),
});
const blockPage = fc.record({ id: fc.nat({ max: 3 }), type: fc.constantFrom(0, 1) });

/** A put, or for every fourth a removal of what may or may not be there; an entity serves as its own key. */
export const operation: fc.Arbitrary<Operation> = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.tuple(fc.constant('profile'), profile) },
      { weight: 10, arbitrary: fc.tuple(fc.constant('domainRule'), domainRule) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('ipv4Network'), network4) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('ipv6Network'), network6) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('naptAssignment'), napt) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('schedule'), schedule) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('catalogue'), catalogue) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('blockPage'), blockPage) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('order'), order) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('grant'), grant) },
    ),
    fc.nat({ max: 3 }),
  )
  .map(([[kind, entity], dice]) =>
    dice === 0 ? { type: 'delete', kind, key: entity } : { type: 'put', kind, entity },
  ) as fc.Arbitrary<Operation>;

/** Who lists which name: some in a category that is mandatory (`MANDATORY_IDS`). */
export const listings: fc.Arbitrary<ReadonlyMap<string, Listing>> = fc
  .array(
    fc.tuple(
      name,
      fc.record({
        categories: fc
          .tuple(ascending, fc.constantFrom([], [], [], [], [50], [60], [50, 60]))
          .map((ids) => ids.flat().sort((a, b) => a - b)),
        applications: ascending,
        rewrites: ascending,
      }),
    ),
    {
      maxLength: 14,
    },
  )
  .map((entries) => new Map(entries));

export const asker: fc.Arbitrary<OracleClient> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ family: fc.constant(4 as const), address: address4, port }) },
  { weight: 1, arbitrary: fc.record({ family: fc.constant(6 as const), address: address6, port }) },
);
