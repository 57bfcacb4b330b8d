import { type CompiledCatalogue, compileCatalogue, NameList } from '@weir/catalogue';
import { ENTITY_KINDS, type EntityKind, type Row, RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import type { Random } from '../../deployment/random.js';

/** `DOMAIN_HASH_KEY` of the resolvers. */
export const HASH_KEY = '000102030405060708090a0b0c0d0e0f';
export const KEY = parseHashKey(HASH_KEY);

/** What stands before a name, by its number of labels. */
const PREFIXES = ['', '', '', 'www.', 'www4.www.', 'www5.www4.www.'];

/** A name of the configuration, `<letter><n>.example`, with `depth` labels in all: in front are `www`, `www4` … */
export function nameOf(letter: string, n: number, depth = 2): string {
  return `${PREFIXES[depth]}${letter}${n.toString(32).padStart(7, '0')}.example`;
}

export type Rows = Readonly<Partial<Record<EntityKind, () => Iterable<Row>>>>;

const FULL = { networks: 1e6, networks6: 2e5, napt: 2e5, profiles: 1e5, rules: 1e7, domains: 5e6 };
/** How many entries of each kind. `networks` are of IPv4, `domains` are listed in categories. */
export type Size = Readonly<typeof FULL>;
const LISTS = 64;

/** A share of the full size, with at least a hundred entries of each kind. */
export function sizeOf(share: number): Size {
  const sizes = Object.entries(FULL).map(([kind, count]) => {
    return [kind, Math.max(100, Math.round(count * share))] as const;
  });
  return Object.fromEntries(sizes) as Size;
}

/** Every tenth profile has no domain rules and no lists, every tenth is white_list_only; the rest have all. */
function profileRow(id: number): Row {
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
function naptRow(i: number, profileId: number): readonly number[] {
  const lower = (i & 63) * 1024;
  return [(0xc612_0000 + (i >>> 6)) >>> 0, lower, lower + 1023, profileId];
}

/** Profile of network or range i. */
function ownerOf(i: number, profiles: number): number {
  return (Math.imul(i, 0x2545_f491) >>> 0) % profiles;
}

/** Rows by kind, in the order of a snapshot; domains are hashed now, so that this is not part of loading. */
export function makeRows(size: Size): Rows {
  const owned = (count: number, row: (i: number, profileId: number) => Row) =>
    function* (): Generator<Row> {
      for (let i = 0; i < count; i++) yield row(i, ownerOf(i, size.profiles));
    };
  return {
    profile: owned(size.profiles, profileRow),
    domainRule: ruleRows(size),
    ipv4Network: owned(size.networks, networkRow),
    ipv6Network: owned(size.networks6, network6Row),
    naptAssignment: owned(size.napt, naptRow),
    *schedule() {
      for (let i = 3; i < size.profiles; i += 100) yield [i, i + 1, 1, 40, 46];
    },
  };
}

const PART_ROWS = 1_000;

/** All rows in the order of a snapshot, up to a thousand of one kind at a time. */
export function* partsOf(
  all: Rows,
): Generator<{ readonly kind: EntityKind; readonly rows: Row[] }> {
  for (const kind of ENTITY_KINDS) {
    let rows: Row[] = [];
    for (const row of all[kind]?.() ?? []) {
      if (rows.push(row) < PART_ROWS) continue;
      yield { kind, rows };
      rows = [];
    }
    if (rows.length > 0) yield { kind, rows };
  }
}

/**
 * Rule n is for `r<n>.example`. Every tenth profile has no rules, all others have equally many. The rules of a
 * profile are consecutive, as in a snapshot.
 */
function ruleOwner(n: number, size: Size): number {
  const owner = Math.floor((n * size.profiles) / size.rules);
  return owner % 10 === 0 ? owner + 1 : owner;
}

function ruleRows(size: Size): () => Iterable<Row> {
  const stored = new Float64Array(size.rules);
  for (let n = 0; n < size.rules; n++) stored[n] = hashDomain(nameOf('r', n), KEY);
  return function* () {
    for (let n = 0; n < size.rules; n++) {
      const verdict = n % 4 === 0 ? RuleVerdict.allow : RuleVerdict.deny;
      yield [ruleOwner(n, size), stored[n], verdict];
    }
  };
}

/** One of this many listed names is of an application, `a<n>.example`; the others are in categories, `c<n>.example`. */
const OF_APPLICATIONS = 100;

/** A catalogue with this many names; every tenth or so is in three categories, the others in one. */
export function compileDomains(domains: number): CompiledCatalogue {
  const applicationDomains = Math.floor(domains / OF_APPLICATIONS);
  const list = (letter: string, from: number, step: number, count: number) => {
    const numbers = new Array(Math.max(0, Math.ceil((count - from) / step))).keys();
    return NameList.of(
      numbers.map((i) => nameOf(letter, from + i * step)),
      KEY,
    );
  };
  const ids = Array.from({ length: domains === 0 ? 0 : LISTS }, (_, id) => id);
  const category = (id: number, from: number, step: number) => {
    return {
      id,
      name: `category ${id}`,
      lists: [list('c', from, step, domains - applicationDomains)],
    };
  };
  const categories = [
    ...ids.map((id) => category(id, id, LISTS)),
    ...ids.filter((id) => id % 5 === 0).map((id) => category(LISTS + id, id, LISTS * 2)),
  ];
  const applications = ids.map((id) => {
    return { id, name: `application ${id}`, lists: [list('a', id, LISTS, applicationDomains)] };
  });
  return compileCatalogue({ categories, applications }, KEY);
}

/** What a client asks. */
export interface Question {
  /** The client: one word in the order of the network, or four for IPv6. */
  words: readonly number[];
  port: number;
  /** See `nameOf`. */
  letter: string;
  n: number;
  depth: number;
}

/** Names that are asked for follow Zipf's law (Jung and others, "DNS performance and the effectiveness of caching"). */
const ZIPF_EXPONENT = 0.91;
/**
 * One of this many names is listed in a category. Where the client's profile blocks it, the answer is the block page.
 */
const LISTED = 8;
/** One of this many queries is for a name that has a rule of the client's own profile. */
const OWN_RULE = 20;
/** One of this many clients is behind a NAPT range; of the others, one of this many has IPv6. */
const [NAPT, IPV6] = [3, 6];
const DEFAULT_PORT = 40_000;
/** A client outside all networks of the configuration. */
export const NOBODY = { words: [0x3fff_0000, 0, 0, 1], port: DEFAULT_PORT };

/** A question of a subscriber, for one of this many names. */
export function draw(size: Size, names: number, random: Random): Question {
  const { client, profile } = drawClient(size, random);
  const below = (count: number): number => random.integer(0, count - 1);
  if (below(OWN_RULE) === 0) {
    const each = size.rules / size.profiles;
    const n = Math.ceil(profile * each) + below(Math.max(1, Math.floor(each)));
    if (n < size.rules && ruleOwner(n, size) === profile) {
      return { ...client, letter: 'r', n, depth: 2 };
    }
  }
  const power = 1 - ZIPF_EXPONENT;
  const rank = Math.floor((random.next() * ((names + 1) ** power - 1) + 1) ** (1 / power)) - 1;
  if (rank % LISTED !== LISTED - 1)
    return { ...client, letter: 'n', n: rank, depth: 2 + (rank % 3) };
  const categoryDomains = size.domains - Math.floor(size.domains / OF_APPLICATIONS);
  return { ...client, letter: 'c', n: rank % categoryDomains, depth: 3 };
}

/** Any name with this letter, see `nameOf`. */
export function drawName(letter: string, { domains }: Size, random: Random): number {
  const applicationDomains = Math.floor(domains / OF_APPLICATIONS);
  if (letter === 'a') return random.integer(0, applicationDomains - 1);
  return random.integer(0, letter === 'c' ? domains - applicationDomains - 1 : 2 ** 32 - 1);
}

function drawClient(size: Size, random: Random) {
  const below = (count: number): number => random.integer(0, count - 1);
  const word = (): number => below(2 ** 32);
  const of = (i: number, words: readonly number[], port = DEFAULT_PORT) => {
    return { client: { words, port }, profile: ownerOf(i, size.profiles) };
  };
  if (below(NAPT) === 0) {
    const i = below(size.napt);
    const [address, lowerPort] = naptRow(i, 0);
    return of(i, [address], lowerPort + below(1_024));
  }
  if (below(IPV6) === 0) {
    const i = below(size.networks6);
    const [first, second] = network6Row(i, 0);
    return of(i, [first, second, 0, word()]);
  }
  const i = below(size.networks);
  const [address, length] = networkRow(i, 0);
  return of(i, [(address | (length === 32 ? 0 : word() & (0xffff_ffff >>> length))) >>> 0]);
}
