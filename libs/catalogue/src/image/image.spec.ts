import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatalogueError } from '../catalogue-error.js';
import { NameList } from '../names/name-list.js';
import { compileCatalogue, type ListedGroup, type ListedGroups } from './compile.js';
import { CatalogueImage } from './image.js';
import { Header } from './image-format.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const OTHER_KEY = parseHashKey('ff'.repeat(16));
const hashes = new SuffixHashes(KEY);

function group(id: number, ...domains: string[]): ListedGroup {
  return { id, name: `group ${id}`, lists: [NameList.of(domains, KEY)] };
}

function groups(
  categories: readonly ListedGroup[],
  applications: readonly ListedGroup[] = [],
): ListedGroups {
  return { categories, applications };
}

/** Which categories and applications list exactly this name, by the image. */
function lookUp(
  image: CatalogueImage,
  domain: string,
): { categories: number[]; applications: number[] } {
  const last = hashes.compute(toWireName(domain), 0) - 1;
  const at = image.find(hashes, last);
  const isRuledOut = ((image.candidateMask(hashes) >>> last) & 1) === 0;
  if (isRuledOut && at !== 0) throw new Error('the filter rules out a name that is listed');
  if (at === 0) return { categories: [], applications: [] };
  const [categoryCount, applicationCount] = image.memberships.subarray(at, at + 2);
  const ids = Array.from(
    image.memberships.subarray(at + 2, at + 2 + categoryCount + applicationCount),
  );
  return { categories: ids.slice(0, categoryCount), applications: ids.slice(categoryCount) };
}

function openCompiled(from: ListedGroups): CatalogueImage {
  return CatalogueImage.open(compileCatalogue(from, KEY).image, KEY);
}

describe('CatalogueImage', () => {
  it('finds the categories and applications of a name, and of no other name', () => {
    const image = openCompiled(
      groups(
        [group(12, 'bet.example', 'both.example'), group(3, 'both.example')],
        [group(7, 'both.example', 'app.example')],
      ),
    );
    expect(lookUp(image, 'bet.example')).toEqual({ categories: [12], applications: [] });
    expect(lookUp(image, 'both.example')).toEqual({ categories: [3, 12], applications: [7] });
    expect(lookUp(image, 'app.example')).toEqual({ categories: [], applications: [7] });
    expect(lookUp(image, 'www.bet.example')).toEqual({ categories: [], applications: [] });
    expect(lookUp(image, 'example')).toEqual({ categories: [], applications: [] });
  });

  it('has the ids of mandatory categories, and no name of a secret one', () => {
    const open: ListedGroup = { ...group(3, 'bet.example'), mandatory: true };
    const hidden: ListedGroup = { ...group(12, 'bad.example'), mandatory: true, secret: true };
    const image = openCompiled(groups([hidden, group(1, 'a.example'), open]));
    expect(image.mandatoryIds).toEqual([3, 12]);
    expect(image.category(3)).toMatchObject({ name: open.name, mandatory: true });
    expect(image.category(12)).toMatchObject({ name: '', secret: true });
    expect(image.categories.map(({ name }) => name)).not.toContain(hidden.name);
  });

  it('has the names of its categories and applications, and what a category is for', () => {
    const bets: ListedGroup = { ...group(12, 'bet.example'), purpose: 'parental' };
    const image = openCompiled(groups([bets], [group(7, 'app.example')]));
    expect(image.category(12)).toMatchObject({ name: bets.name, purpose: 'parental' });
    expect(image.category(7)).toBeUndefined();
    expect(image.mandatoryIds).toEqual([]);
    expect(image.applicationName(7)).toBe(image.applications[0].name);
    expect(image.applicationName(12)).toBeUndefined();
  });

  it('has the same names as a plain map, for any lists', () => {
    const domains = fc.array(
      fc.nat({ max: 400 }).map((n) => `d${n}.example`),
      { maxLength: 300 },
    );
    const listings = fc.uniqueArray(fc.tuple(fc.nat({ max: 2_147_483_647 }), domains), {
      selector: ([id]) => id,
      maxLength: 8,
    });
    fc.assert(
      fc.property(listings, listings, (categories, applications) => {
        const listed = (all: typeof categories) => all.map(([id, names]) => group(id, ...names));
        const image = openCompiled(groups(listed(categories), listed(applications)));
        const idsOf = (all: typeof categories, domain: string): number[] =>
          all
            .filter(([, names]) => names.includes(domain))
            .map(([id]) => id)
            .sort((a, b) => a - b);
        const asked = Array.from({ length: 401 }, (_, n) => `d${n}.example`);
        expect(asked.map((domain) => lookUp(image, domain))).toEqual(
          asked.map((domain) => ({
            categories: idsOf(categories, domain),
            applications: idsOf(applications, domain),
          })),
        );
        for (const summary of image.categories) {
          const [, names] = categories.find(([id]) => id === summary.id)!;
          expect(summary.domains).toBe(new Set(names).size);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('finds each of 100,000 names within 12 bytes a name, and none of as many others', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `n${i}.example`);
    const { image: bytes } = compileCatalogue(
      groups([{ ...group(1), lists: [NameList.of(many, KEY)] }]),
      KEY,
    );
    expect(bytes.length / many.length).toBeLessThan(12);
    const image = CatalogueImage.open(bytes, KEY);
    expect(image.domainCount).toBe(many.length);
    expect(many.filter((name) => lookUp(image, name).categories.length !== 1)).toEqual([]);
    const others = Array.from({ length: 100_000 }, (_, i) => `m${i}.example`);
    expect(others.filter((name) => lookUp(image, name).categories.length !== 0)).toEqual([]);
  });

  it('has a candidate bit for few names that are not listed', () => {
    const many = Array.from({ length: 50_000 }, (_, i) => `n${i}.example`);
    const image = openCompiled(groups([{ ...group(1), lists: [NameList.of(many, KEY)] }]));
    let passed = 0;
    for (let i = 0; i < 50_000; i++) {
      hashes.compute(toWireName(`m${i}.example`), 0);
      passed += (image.candidateMask(hashes) >>> 1) & 1;
    }
    expect(passed / 50_000).toBeLessThan(0.06);
  });

  it('always has the candidate bit for suffixes from index 31', () => {
    const long = `${'a.'.repeat(40)}example`;
    const image = openCompiled(groups([group(1, long)]));
    expect(hashes.compute(toWireName(`b.${long}`), 0)).toBe(42);
    expect(image.candidateMask(hashes) >>> 31).toBe(1);
    expect(image.memberships[image.find(hashes, 40)]).toBe(1);
  });

  it('can have more membership sets than two bytes can number', () => {
    const categories = Array.from({ length: 17 }, (_, bit) =>
      group(
        bit,
        ...Array.from({ length: 70_000 }, (_, n) => n + 1)
          .filter((n) => (n >> bit) & 1)
          .map((n) => `c${n}.example`),
      ),
    );
    const image = openCompiled(groups(categories));
    expect(lookUp(image, 'c69999.example').categories).toEqual(
      categories.map(({ id }) => id).filter((bit) => (69_999 >> bit) & 1),
    );
    expect(lookUp(image, 'c1.example').categories).toEqual([0]);
  });

  it('opens an empty catalogue', () => {
    const image = openCompiled(groups([]));
    hashes.compute(toWireName('a.b.c.example'), 0);
    hashes.high.set([0, 0xffff_ffff, 0xffff_ffff]);
    hashes.low.set([0, 0xffff_ffff, 5]);
    for (let suffix = 0; suffix < 4; suffix++) expect(image.find(hashes, suffix)).toBe(0);
    expect([image.categories, image.applications]).toEqual([[], []]);
  });

  it('can be opened in shared memory and at any offset', () => {
    const { image } = compileCatalogue(groups([group(1, 'a.example')]), KEY);
    const shared = new Uint8Array(new SharedArrayBuffer(image.length));
    shared.set(image);
    const opened = CatalogueImage.open(shared, KEY);
    expect(lookUp(opened, 'a.example').categories).toEqual([1]);
    // As it arrives in another thread: the same memory.
    const sent = structuredClone(opened.shareable)!;
    expect(sent.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(lookUp(CatalogueImage.open(sent, KEY), 'a.example').categories).toEqual([1]);
    const shifted = new Uint8Array(image.length + 1).subarray(1);
    shifted.set(image);
    expect(lookUp(CatalogueImage.open(shifted, KEY), 'a.example').categories).toEqual([1]);
    expect(CatalogueImage.open(shifted, KEY).shareable).toBeUndefined();
  });
});

describe('CatalogueImage.open', () => {
  const sound = compileCatalogue(groups([group(1, 'a.example', 'b.example')]), KEY).image;

  it('refuses an image with any one byte changed', () => {
    for (let i = 0; i < sound.length; i++) {
      const broken = sound.slice();
      broken[i] ^= 0x10;
      expect(() => CatalogueImage.open(broken, KEY), `byte ${i}`).toThrow(CatalogueError);
    }
  });

  it('refuses an image that is too short or too long', () => {
    for (let length = 0; length < sound.length; length++) {
      expect(() => CatalogueImage.open(sound.slice(0, length), KEY)).toThrow(CatalogueError);
    }
    const longer = new Uint8Array(sound.length + 4);
    longer.set(sound);
    expect(() => CatalogueImage.open(longer, KEY)).toThrow('not as long as it says');
  });

  it('refuses an image compiled under another key', () => {
    expect(() => CatalogueImage.open(sound, OTHER_KEY)).toThrow('another DOMAIN_HASH_KEY');
  });

  it('refuses a later format version', () => {
    const later = sound.slice();
    new DataView(later.buffer).setUint32(Header.version, 3, true);
    expect(() => CatalogueImage.open(later, KEY)).toThrow('format version is 3');
  });

  it('refuses sections outside of the image even when the checksum is skipped', () => {
    const broken = sound.slice();
    new DataView(broken.buffer).setUint32(Header.slotCount, 1_000_000, true);
    expect(() => CatalogueImage.open(broken, KEY, { checksumVerified: true })).toThrow(
      'lies outside',
    );
  });
});

/** A name in wire format as text. */
function textOf(name: Uint8Array): string {
  const labels: string[] = [];
  for (let at = 0; name[at] !== 0; at += name[at] + 1) {
    labels.push(String.fromCharCode(...name.subarray(at + 1, at + 1 + name[at])));
  }
  return labels.join('.');
}

describe('the rewrites of an image', () => {
  const search = {
    ...group(21),
    rewrites: [
      { to: 'safe.example', names: ['www.search.example', 'search.example'] },
      { to: 'other.example', names: ['www.other.example'] },
    ],
  };
  const strict = { ...group(7), rewrites: [{ to: 'strict.example', names: ['search.example'] }] };
  const image = openCompiled(groups([search, strict, group(1, 'www.search.example')]));
  const rewritesOf = (domain: string) => {
    hashes.compute(toWireName(domain), 0);
    return image.rewritesOf(hashes).map(({ categoryId, target }) => [categoryId, textOf(target)]);
  };

  it('are those of exactly this name, ascending by category', () => {
    expect(rewritesOf('www.search.example')).toEqual([[21, 'safe.example']]);
    expect(rewritesOf('WWW.Search.example')).toEqual([[21, 'safe.example']]);
    expect(rewritesOf('search.example')).toEqual([
      [7, 'strict.example'],
      [21, 'safe.example'],
    ]);
    for (const name of ['a.www.search.example', 'example', 'safe.example']) {
      expect(rewritesOf(name)).toEqual([]);
    }
  });

  it('list no name in their category', () => {
    expect(lookUp(image, 'search.example')).toEqual({ categories: [], applications: [] });
    expect(lookUp(image, 'www.search.example')).toEqual({ categories: [1], applications: [] });
  });

  it('do not change the image of a catalogue without rewrites', () => {
    const without = compileCatalogue(groups([group(1, 'a.example')]), KEY);
    const empty = compileCatalogue(groups([{ ...group(1, 'a.example'), rewrites: [] }]), KEY);
    expect(empty.sha256).toBe(without.sha256);
    hashes.compute(toWireName('a.example'), 0);
    expect(CatalogueImage.open(without.image, KEY).rewritesOf(hashes)).toEqual([]);
  });
});

describe('compileCatalogue', () => {
  it('compiles the same image for any order of groups and lists', () => {
    const one = compileCatalogue(
      groups([group(1, 'a.example', 'b.example'), group(2, 'a.example')]),
      KEY,
    );
    const other = compileCatalogue(
      groups([group(2, 'a.example', 'a.example'), group(1, 'b.example', 'a.example')]),
      KEY,
    );
    expect(other.sha256).toBe(one.sha256);
    expect(other.image).toEqual(one.image);
    expect(one.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('merges the lists of a group', () => {
    const lists = [['b.example', 'a.example'], [], ['c.example', 'b.example']];
    const several = { ...group(1), lists: lists.map((domains) => NameList.of(domains, KEY)) };
    const { sha256, categories } = compileCatalogue(groups([several]), KEY);
    expect(categories[0].domains).toBe(3);
    expect(sha256).toBe(compileCatalogue(groups([group(1, ...lists.flat())]), KEY).sha256);
  });

  it('refuses a name whose hash is the mark of an empty slot', () => {
    const words = Uint32Array.of(0xffff_ffff, 0xffff_ffff, 1, 0xffff_ffff);
    const unlucky = { ...group(1), lists: [NameList.ofUnsorted(words)] };
    expect(() => compileCatalogue(groups([unlucky]), KEY)).toThrow(
      'cannot be listed under this DOMAIN_HASH_KEY',
    );
  });

  it('compiles another image under another key', () => {
    const other = { ...group(1), lists: [NameList.of(['a.example'], OTHER_KEY)] };
    expect(compileCatalogue(groups([other]), OTHER_KEY).sha256).not.toBe(
      compileCatalogue(groups([group(1, 'a.example')]), KEY).sha256,
    );
  });
});
