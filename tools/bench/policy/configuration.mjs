// A configuration of a given size, the same at every run.
import { compileCatalogue, NameList } from '@weir/catalogue';
import { RuleVerdict } from '@weir/config-model';
import { SuffixHashes } from '@weir/dns-name';
import { textOf, writeName } from './names.mjs';

export const APPLICATIONS = 64;
export const CATEGORIES = 64;
const ROWS_PER_PART = 1_000;

export const SIZES = {
  0: { networks: 0, networks6: 0, napt: 0, profiles: 0, rules: 0, domains: 0 },
  '1k': { networks: 1e3, networks6: 200, napt: 192, profiles: 100, rules: 1e4, domains: 5e3 },
  '10k': { networks: 1e4, networks6: 2e3, napt: 2e3, profiles: 1e3, rules: 1e5, domains: 5e4 },
  '1M': { networks: 1e6, networks6: 2e5, napt: 2e5, profiles: 1e5, rules: 1e7, domains: 5e6 },
};

/** One of SIZES by its name, or a share of the largest: `0.01`. Every part has at least a hundred entries then. */
export function sizeOf(nameOrShare) {
  if (nameOrShare in SIZES) return { ...SIZES[nameOrShare] };
  const share = Number(nameOrShare);
  const scaled = Object.entries(SIZES['1M']).map(([part, count]) => [
    part,
    Math.max(100, Math.round(count * share)),
  ]);
  return Object.fromEntries(scaled);
}

/** How many of `full` measurements a size deserves: all, but fewer of a share of the largest size, for a quick try. */
export function effortOf(nameOrShare, full, least) {
  return nameOrShare in SIZES ? full : Math.max(least, Math.round(full * Number(nameOrShare)));
}

/** Every tenth profile has no domain rules and no lists, every tenth is white_list_only; the rest have all. */
export function profileRow(id) {
  if (id % 10 === 0) return [id, null, 0, 0, 0];
  const flags = id % 10 === 1 ? 1 : id % 10 === 2 ? 4 : 0;
  const categories = Array.from({ length: 10 }, (_, i) => i * 6 + (id % 6));
  const applications = Array.from({ length: 8 }, (_, i) => [i * 8 + (id % 8), 1 + (i % 2)]).flat();
  return [
    id,
    null,
    flags,
    categories.length,
    ...categories,
    applications.length / 2,
    ...applications,
  ];
}

/**
 * Half of the IPv4 networks are hosts that lie dense, half are scattered, /20 to /31. No two are the same: the numbers
 * of those with one length differ, so they differ in as many bits when they are multiplied by an odd number.
 */
export function networkRow(i, profileId) {
  const pair = i >>> 1;
  if (i % 2 === 0) return [(0x0a00_0000 + pair) >>> 0, 32, profileId];
  const length = 20 + (pair % 12);
  const scattered = Math.imul(Math.floor(pair / 12), 0x9e37_79b1);
  return [(scattered << (32 - length)) >>> 0, length, profileId];
}

/** Half /56 in sequence below one /24, half /64 scattered in 2001:db8::/32's neighbourhood. */
export function network6Row(i, profileId) {
  if (i % 2 === 0) return [0x2001_0d00 + (i >>> 25), (i << 7) >>> 0, 0, 0, 56, profileId];
  return [0x2001_0db8, Math.imul(i, 0x9e37_79b1) >>> 0, 0, 0, 64, profileId];
}

/** 64 ranges of 1024 ports an address. */
export function naptRow(i, profileId) {
  const lower = (i & 63) * 1024;
  return [(0xc612_0000 + (i >>> 6)) >>> 0, lower, lower + 1023, profileId];
}

/** Profile of network or range i. */
export function ownerOf(i, profiles) {
  return profiles === 0 ? 0 : (Math.imul(i, 0x2545_f491) >>> 0) % profiles;
}

/** Rows by kind, in the order of a snapshot; domain hashes as numbers, so that making them is not part of loading. */
export function makeRows(size, key) {
  const any = (i) => ownerOf(i, size.profiles);
  return {
    *profile() {
      for (let i = 0; i < size.profiles; i++) yield profileRow(i);
    },
    domainRule: ruleRows(size, key),
    *ipv4Network() {
      for (let i = 0; i < size.networks; i++) yield networkRow(i, any(i));
    },
    *ipv6Network() {
      for (let i = 0; i < size.networks6; i++) yield network6Row(i, any(i));
    },
    *naptAssignment() {
      for (let i = 0; i < size.napt; i++) yield naptRow(i, any(i));
    },
    *schedule() {
      for (let i = 3; i < size.profiles; i += 100) yield [i, i + 1, 1, 40, 46];
    },
  };
}

/** The kinds of `makeRows`, each with its rows. */
export const entriesOf = Object.entries;

/** Rows in parts, as a snapshot has them. */
export function* partsOf(rows) {
  let part = [];
  for (const row of rows) {
    part.push(row);
    if (part.length < ROWS_PER_PART) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/**
 * Rule n is for `r<n>.example`. Every tenth profile has no rules, all others have equally many. The rules of a
 * profile are consecutive, as in a snapshot.
 */
export function ruleOwner(n, size) {
  const owner = Math.floor((n * size.profiles) / size.rules);
  return owner % 10 === 0 ? owner + 1 : owner;
}

function ruleRows(size, key) {
  const hashes = new SuffixHashes(key);
  const bytes = new Uint8Array(64);
  const stored = new Float64Array(size.rules);
  for (let n = 0; n < size.rules; n++) {
    writeName(bytes, 0, 'r', n);
    hashes.compute(bytes, 0);
    stored[n] = (hashes.high[1] & 0x1f_ffff) * 2 ** 32 + hashes.low[1];
  }
  return function* () {
    for (let n = 0; n < size.rules; n++) {
      const verdict = n % 4 === 0 ? RuleVerdict.allow : RuleVerdict.deny;
      yield [ruleOwner(n, size), stored[n], verdict];
    }
  };
}

/**
 * Catalogue: `c<n>.example` in one category, every tenth in three; every hundredth `a<n>.example` in an
 * application.
 */
export function makeDefinition(domains) {
  const applicationDomains = Math.floor(domains / 100);
  const categoryDomains = domains - applicationDomains;
  return { categoryDomains, applicationDomains };
}

/** The catalogue of `makeDefinition`, compiled. */
export function compileDomains(domains, key) {
  const definition = makeDefinition(domains);
  const lists = (letter, from, step, count) => {
    const names = {
      *[Symbol.iterator]() {
        for (let n = from; n < count; n += step) yield textOf(letter, n);
      },
    };
    return [NameList.of(names, key)];
  };
  const categories = Array.from({ length: CATEGORIES }, (_, id) => ({
    id,
    name: `category ${id}`,
    lists: lists('c', id, CATEGORIES, definition.categoryDomains),
  }));
  // Every tenth or so is listed twice more.
  for (let id = 0; id < CATEGORIES; id += 5) {
    const more = lists('c', id, CATEGORIES * 2, definition.categoryDomains);
    categories.push({ id: CATEGORIES + id, name: `more ${id}`, lists: more });
  }
  const applications = Array.from({ length: APPLICATIONS }, (_, id) => ({
    id,
    name: `application ${id}`,
    lists: lists('a', id, APPLICATIONS, definition.applicationDomains),
  }));
  return compileCatalogue({ categories, applications }, key);
}
