/**
 * The kind of answer for a special name. It also holds for all names below it, unless a more specific special name
 * exists.
 */
export const Special = {
  none: 0,
  /** The loopback addresses (RFC 6761 §6.3). */
  localhost: 1,
  /** NXDOMAIN, also for the name itself. */
  nonexistent: 2,
  /** An empty zone (RFC 6303 §3): the name itself has SOA and NS records, and nothing exists below it. */
  emptyZone: 3,
  /** The name exists and has no records. */
  empty: 4,
  /** The loopback addresses while this resolver is ready, SERVFAIL while it is not. */
  ready: 5,
  /** The name itself has the SVCB records of the designated resolvers. Otherwise like `empty`. */
  designated: 6,
} as const;
export type Special = (typeof Special)[keyof typeof Special];

export type SpecialZone = readonly [name: string, special: Special];

/** The name by which clients look for encrypted transports (RFC 9462 §4). */
const DESIGNATION_NAME = '_dns.resolver.arpa';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Reverse zones of private, shared, loopback, link-local and documentation addresses (RFC 6303 §4, RFC 7793 §3). */
// prettier-ignore
const REVERSE_ZONES = [
  ...['0', '10', '127', '168.192', '254.169', '2.0.192', '100.51.198', '113.0.203', '255.255.255.255'],
  ...range(16, 31).map((n) => `${n}.172`),
  ...range(64, 127).map((n) => `${n}.100`),
].map((net) => `${net}.in-addr.arpa`);

/**
 * The unspecified and loopback addresses; unique local, link-local and documentation prefixes (RFC 6303 §4.3 … §4.6).
 */
const REVERSE_ZONES_IPV6 = [
  '0.'.repeat(32).slice(0, -1),
  `1.${'0.'.repeat(31).slice(0, -1)}`,
  ...['d.f', '8.e.f', '9.e.f', 'a.e.f', 'b.e.f', '8.b.d.0.1.0.0.2'],
].map((net) => `${net}.ip6.arpa`);

/** Load balancers ask for this name to learn whether the resolver is ready, before it stops taking queries. */
export const READINESS_ZONES: readonly SpecialZone[] = [['ready.weir.invalid', Special.ready]];

/** Names that must not be sent to any upstream. */
export const LOCAL_ZONES: readonly SpecialZone[] = [
  ['localhost', Special.localhost],
  ['invalid', Special.nonexistent], // RFC 6761 §6.4
  ['test', Special.nonexistent], // RFC 6761 §6.2
  ['onion', Special.nonexistent], // RFC 7686 §2
  ['alt', Special.nonexistent], // RFC 9476 §2
  ['local', Special.nonexistent], // RFC 6762 §22.1
  ['home.arpa', Special.emptyZone], // RFC 8375 §4
  ['resolver.arpa', Special.emptyZone], // RFC 9462 §6.4
  ...REVERSE_ZONES.map((name): SpecialZone => [name, Special.emptyZone]),
  ...REVERSE_ZONES_IPV6.map((name): SpecialZone => [name, Special.emptyZone]),
];

/**
 * Names by which clients find out whether they may use another, unfiltered resolver. The answer is that they may not.
 * They come before the policy, which could turn the answer into an address (decisions §9).
 */
export const DISCOVERY_ZONES: readonly SpecialZone[] = [
  // Firefox does not enable DNS over HTTPS by default when this name does not exist.
  ['use-application-dns.net', Special.nonexistent],
  // Apple devices disable Private Relay when these names do not exist.
  ['mask.icloud.com', Special.nonexistent],
  ['mask-h2.icloud.com', Special.nonexistent],
  // There is no designated resolver.
  [DESIGNATION_NAME, Special.empty],
];

/** Instead of the last of `DISCOVERY_ZONES`, when there are designated resolvers. */
export const DESIGNATION_ZONES: readonly SpecialZone[] = [[DESIGNATION_NAME, Special.designated]];
