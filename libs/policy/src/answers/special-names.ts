import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import {
  HEADER_BYTES,
  NO_EXTENDED_ERROR,
  type Query,
  Rcode,
  Type,
  writeAddressAnswer,
  writeNegativeAnswer,
  writeZoneAnswer,
} from '@weir/dns-wire';

/** The answer for a special name and for all names below it, unless a more specific special name exists. */
export const Special = {
  none: 0,
  /** The loopback addresses (RFC 6761 §6.3). */
  localhost: 1,
  /** NXDOMAIN, also for the name itself, unless a special name is below it. */
  nonexistent: 2,
  /** An empty zone (RFC 6303 §3): the name itself has SOA and NS records, and nothing exists below it. */
  emptyZone: 3,
  /** The name exists and has no records. */
  empty: 4,
  /** The loopback addresses while this resolver is ready, SERVFAIL while it is not. */
  ready: 5,
  /** The name itself has the SVCB records of the designated resolvers. Otherwise like `empty`. */
  designated: 6,
  /** Like `emptyZone`, but all names below it exist, without records. */
  emptyNames: 7,
} as const;
export type Special = (typeof Special)[keyof typeof Special];

export type SpecialZone = readonly [name: string, special: Special];

/** The name by which clients look for encrypted transports (RFC 9462 §4). */
const DESIGNATION_NAME = '_dns.resolver.arpa';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Reverse zones of private, shared, loopback, link-local and documentation addresses (RFC 6303 §4, RFC 7793 §3). */
// oxfmt-ignore
const REVERSE_ZONES = [
  ...['0', '10', '127', '168.192', '254.169', '2.0.192', '100.51.198', '113.0.203', '255.255.255.255'],
  ...range(16, 31).map((n) => `${n}.172`),
  ...range(64, 127).map((n) => `${n}.100`),
].map((net) => `${net}.in-addr.arpa`);

/** Unspecified, loopback, unique local, link-local and documentation addresses (RFC 6303 §4.3 … §4.6). */
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
  ['resolver.arpa', Special.emptyNames], // RFC 9462 §6.4
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

/** Added to the value of a name above a special name. Without more, the name itself is not special. */
const ABOVE = 8;

/**
 * Finds the most specific special name that a name equals or is below. The table also holds the parents of special
 * names, so for most names one lookup of the top-level domain is enough. Allocates nothing.
 */
export class SpecialNameTable {
  /** Number of labels of the name that the last `find` returned. */
  labels = 0;
  /** Whether the last name has a special name below it: then it exists (RFC 8020 §2). */
  isAbove = false;
  private readonly table: SuffixTable<number>;

  constructor(key: HashKey, zones: readonly SpecialZone[]) {
    const hashes = new SuffixHashes(key);
    this.table = new SuffixTable(zones.reduce((sum, [name]) => sum + name.split('.').length, 0));
    for (const [name, special] of zones) {
      const count = hashes.compute(toWireName(name), 0);
      for (let i = 0; i < count - 1; i++) {
        this.table.set(hashes, i, (this.table.get(hashes, i) ?? 0) | ABOVE);
      }
      const above = (this.table.get(hashes, count - 1) ?? 0) & ABOVE;
      this.table.set(hashes, count - 1, special | above);
    }
  }

  find(names: SuffixHashes): Special {
    let special: Special = Special.none;
    this.isAbove = false;
    for (let i = 0; i < names.count; i++) {
      const value = this.table.get(names, i);
      if (value === undefined) break;
      this.isAbove = i === names.count - 1 && (value & ABOVE) !== 0;
      if (value === ABOVE) continue;
      special = (value & ~ABOVE) as Special;
      this.labels = i + 1;
    }
    return special;
  }
}

/** The special name that the current query asks for, or is below. Reused for every query; allocates nothing. */
export class SpecialMatch {
  special: Special = Special.none;
  /** Offset of the special name in the query, or in the target of a CNAME record: where one of its labels starts. */
  zoneOffset = 0;

  /**
   * Looks for the most specific of `names`, and sets `special` and `zoneOffset`. A name above another one exists
   * (RFC 8020 §2).
   * @param start of the name in `bytes`: a query, or the target of a CNAME record
   */
  find(
    names: SpecialNameTable,
    bytes: Uint8Array,
    hashes: SuffixHashes,
    start = HEADER_BYTES,
  ): boolean {
    this.special = names.find(hashes);
    if (this.special === Special.none) return false;
    this.zoneOffset = offsetOfSuffix(bytes, start, hashes.count - names.labels);
    if (this.special === Special.nonexistent && names.isAbove) this.special = Special.empty;
    return true;
  }

  /** Whether the qname is the apex of an empty zone. Its DS record belongs to the parent zone (RFC 4035 §3.1.4.1). */
  get isZoneApex(): boolean {
    return isZone(this.special) && this.zoneOffset === HEADER_BYTES;
  }

  /** Whether the qname exists by itself, so that it may have records. */
  get nameExists(): boolean {
    return this.special === Special.emptyZone
      ? this.isZoneApex
      : this.special !== Special.nonexistent;
  }
}

function isZone(special: Special): boolean {
  return special === Special.emptyZone || special === Special.emptyNames;
}

/** Offset of the part of the name at `start` that is left after `skippedLabels` labels. */
function offsetOfSuffix(bytes: Uint8Array, start: number, skippedLabels: number): number {
  let at = start;
  for (let skip = skippedLabels; skip > 0; skip--) at += bytes[at] + 1;
  return at;
}

/** TTL of all answers made here (RFC 6303 §3). */
export const SPECIAL_TTL_SECONDS = 10_800;
const IPV4_LOOPBACK = Uint8Array.of(127, 0, 0, 1);
const IPV6_LOOPBACK = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);

/** The loopback address of that type; null: a name that stands for this machine has no such record. */
export function loopbackOf(type: number): Uint8Array | null {
  if (type === Type.a) return IPV4_LOOPBACK;
  return type === Type.aaaa ? IPV6_LOOPBACK : null;
}

/** @param zoneOffset of the special name in the query. @returns the length of the answer in bytes */
export function writeSpecialAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  special: Exclude<Special, typeof Special.none>,
  zoneOffset: number,
  ttlCapSeconds: number,
): number {
  const ttl = special === Special.ready ? 0 : Math.min(SPECIAL_TTL_SECONDS, ttlCapSeconds);
  const isAddress = query.qtype === Type.a || query.qtype === Type.aaaa;
  if (special === Special.ready || (special === Special.localhost && isAddress)) {
    const none = NO_EXTENDED_ERROR;
    return writeAddressAnswer(out, bytes, query, IPV4_LOOPBACK, IPV6_LOOPBACK, ttl, none);
  }
  if (isZone(special) && zoneOffset === HEADER_BYTES)
    return writeZoneAnswer(out, bytes, query, ttl);
  const exists = special !== Special.nonexistent && special !== Special.emptyZone;
  const rcode = exists ? Rcode.noError : Rcode.nxDomain;
  return writeNegativeAnswer(out, bytes, query, rcode, zoneOffset, ttl);
}
