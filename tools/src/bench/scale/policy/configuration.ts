import { type CompiledCatalogue, compileCatalogue, NameList } from '@weir/catalogue';
import { type EntityKind, type Row, RuleVerdict } from '@weir/config-model';
import { type HashKey, SuffixHashes } from '@weir/dns-name';

const DIGITS = 'abcdefghijklmnopqrstuvwxyz012345';

/** Deterministic 32-bit random numbers (xorshift). */
export function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/**
 * Writes the wire name `<letter><n>.example`, with `depth` labels in all: those in front are `www`, `www2` … No string
 * is made, so that millions of names take only seconds.
 * @returns where the name ends.
 */
export function writeName(
  bytes: Uint8Array,
  start: number,
  letter: string,
  n: number,
  depth = 2,
): number {
  let at = start;
  for (let label = depth; label > 2; label--) {
    at = writeLabel(bytes, at, label === 3 ? 'www' : `www${label}`);
  }
  bytes[at++] = 8;
  bytes[at++] = letter.charCodeAt(0);
  for (let shift = 30; shift >= 0; shift -= 5) bytes[at++] = DIGITS.charCodeAt((n >>> shift) & 31);
  at = writeLabel(bytes, at, 'example');
  bytes[at] = 0;
  return at + 1;
}

function writeLabel(bytes: Uint8Array, at: number, text: string): number {
  bytes[at++] = text.length;
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
  return at;
}

/** The text of the same name of two labels. */
function textOf(letter: string, n: number): string {
  let label = letter;
  for (let shift = 30; shift >= 0; shift -= 5) label += DIGITS[(n >>> shift) & 31] ?? '';
  return `${label}.example`;
}

/** How many entries of each kind. `networks` are of IPv4, `domains` are listed in categories. */
export interface Size {
  readonly networks: number;
  readonly networks6: number;
  readonly napt: number;
  readonly profiles: number;
  readonly rules: number;
  readonly domains: number;
}

export type Rows = Readonly<Partial<Record<EntityKind, () => Iterable<Row>>>>;

const FULL: Size = {
  networks: 1e6,
  networks6: 2e5,
  napt: 2e5,
  profiles: 1e5,
  rules: 1e7,
  domains: 5e6,
};
const LISTS = 64;

/** A share of the full size, with at least a hundred entries of each kind. */
export function sizeOf(share: number): Size {
  const of = (count: number): number => Math.max(100, Math.round(count * share));
  return {
    networks: of(FULL.networks),
    networks6: of(FULL.networks6),
    napt: of(FULL.napt),
    profiles: of(FULL.profiles),
    rules: of(FULL.rules),
    domains: of(FULL.domains),
  };
}

/** Every tenth profile has no domain rules and no lists, every tenth is white_list_only; the rest have all. */
export function profileRow(id: number): Row {
  if (id % 10 === 0) return [id, null, 0, 0, 0];
  const flags = id % 10 === 1 ? 1 : id % 10 === 2 ? 4 : 0;
  const categories = Array.from({ length: 10 }, (_, i) => i * 6 + (id % 6));
  const applications = Array.from({ length: 8 }, (_, i) => [i * 8 + (id % 8), 1 + (i % 2)]).flat();
  return [id, null, flags, categories.length, ...categories, 8, ...applications];
}

/**
 * Half of the IPv4 networks are hosts that lie dense, half are scattered, /20 to /31. No two are the same: the numbers
 * of those with one length differ, so they differ in as many bits when they are multiplied by an odd number.
 */
export function networkRow(i: number, profileId: number): readonly [number, number, number] {
  const pair = i >>> 1;
  if (i % 2 === 0) return [(0x0a00_0000 + pair) >>> 0, 32, profileId];
  const length = 20 + (pair % 12);
  const scattered = Math.imul(Math.floor(pair / 12), 0x9e37_79b1);
  return [(scattered << (32 - length)) >>> 0, length, profileId];
}

/** Half /56 in sequence below one /24, half /64 scattered in 2001:db8::/32's neighbourhood. */
export function network6Row(i: number, profileId: number): readonly number[] {
  if (i % 2 === 0) return [0x2001_0d00 + (i >>> 25), (i << 7) >>> 0, 0, 0, 56, profileId];
  return [0x2001_0db8, Math.imul(i, 0x9e37_79b1) >>> 0, 0, 0, 64, profileId];
}

/** 64 ranges of 1024 ports an address. */
export function naptRow(
  i: number,
  profileId: number,
): readonly [address: number, lowerPort: number, upperPort: number, profileId: number] {
  const lower = (i & 63) * 1024;
  return [(0xc612_0000 + (i >>> 6)) >>> 0, lower, lower + 1023, profileId];
}

/** Profile of network or range i. */
export function ownerOf(i: number, profiles: number): number {
  return (Math.imul(i, 0x2545_f491) >>> 0) % profiles;
}

/** Rows by kind, in the order of a snapshot; domains are hashed now, so that this is not part of loading. */
export function makeRows(size: Size, key: HashKey): Rows {
  const owned = (count: number, row: (i: number, profileId: number) => Row) =>
    function* (): Generator<Row> {
      for (let i = 0; i < count; i++) yield row(i, ownerOf(i, size.profiles));
    };
  return {
    profile: owned(size.profiles, profileRow),
    domainRule: ruleRows(size, key),
    ipv4Network: owned(size.networks, networkRow),
    ipv6Network: owned(size.networks6, network6Row),
    naptAssignment: owned(size.napt, naptRow),
    *schedule() {
      for (let i = 3; i < size.profiles; i += 100) yield [i, i + 1, 1, 40, 46];
    },
  };
}

/**
 * Rule n is for `r<n>.example`. Every tenth profile has no rules, all others have equally many. The rules of a
 * profile are consecutive, as in a snapshot.
 */
export function ruleOwner(n: number, size: Size): number {
  const owner = Math.floor((n * size.profiles) / size.rules);
  return owner % 10 === 0 ? owner + 1 : owner;
}

function ruleRows(size: Size, key: HashKey): () => Iterable<Row> {
  const hashes = new SuffixHashes(key);
  const bytes = new Uint8Array(64);
  const stored = new Float64Array(size.rules);
  for (let n = 0; n < size.rules; n++) {
    writeName(bytes, 0, 'r', n);
    hashes.compute(bytes, 0);
    stored[n] = ((hashes.high[1] ?? 0) & 0x1f_ffff) * 2 ** 32 + (hashes.low[1] ?? 0);
  }
  return function* () {
    for (let n = 0; n < size.rules; n++) {
      const verdict = n % 4 === 0 ? RuleVerdict.allow : RuleVerdict.deny;
      yield [ruleOwner(n, size), stored[n] ?? 0, verdict];
    }
  };
}

/** How many of the listed names are in categories, `c<n>.example`, and how many in applications, `a<n>.example`. */
export function shareNames(domains: number): {
  readonly categoryDomains: number;
  readonly applicationDomains: number;
} {
  const applicationDomains = Math.floor(domains / 100);
  return { categoryDomains: domains - applicationDomains, applicationDomains };
}

/** A catalogue with so many names; every tenth or so is in three categories, the others in one. */
export function compileDomains(domains: number, key: HashKey): CompiledCatalogue {
  const { categoryDomains, applicationDomains } = shareNames(domains);
  const list = (letter: string, from: number, step: number, count: number): NameList =>
    NameList.of(
      (function* () {
        for (let n = from; n < count; n += step) yield textOf(letter, n);
      })(),
      key,
    );
  const categories = Array.from({ length: LISTS }, (_, id) => ({
    id,
    name: `category ${id}`,
    lists: [list('c', id, LISTS, categoryDomains)],
  }));
  for (let id = 0; id < LISTS; id += 5) {
    const lists = [list('c', id, LISTS * 2, categoryDomains)];
    categories.push({ id: LISTS + id, name: `more ${id}`, lists });
  }
  const applications = Array.from({ length: LISTS }, (_, id) => ({
    id,
    name: `application ${id}`,
    lists: [list('a', id, LISTS, applicationDomains)],
  }));
  return compileCatalogue({ categories, applications }, key);
}
