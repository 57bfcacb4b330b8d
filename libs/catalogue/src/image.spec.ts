import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatalogueError } from './catalogue-error.js';
import { compileCatalogue } from './compile.js';
import type { Definition } from './definition.js';
import { CatalogueImage } from './image.js';
import { Header } from './image-format.js';
import { definition, group } from './testing/definitions.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const OTHER_KEY = parseHashKey('ff'.repeat(16));
const hashes = new SuffixHashes(KEY);

/** Which categories and applications list exactly this name, by the image. */
function lookUp(
  image: CatalogueImage,
  domain: string,
): { categories: number[]; applications: number[] } {
  const last = hashes.compute(toWireName(domain), 0) - 1;
  const at = image.find(hashes, last);
  // What the filter rules out is not found.
  if (((image.mayList(hashes) >>> last) & 1) === 0) expect(at).toBe(0);
  if (at === 0) return { categories: [], applications: [] };
  const [categoryCount, applicationCount] = image.memberships.subarray(at, at + 2);
  const ids = Array.from(
    image.memberships.subarray(at + 2, at + 2 + categoryCount + applicationCount),
  );
  return { categories: ids.slice(0, categoryCount), applications: ids.slice(categoryCount) };
}

function openCompiled(from: Definition): CatalogueImage {
  return CatalogueImage.open(compileCatalogue(from, KEY).image, KEY);
}

describe('CatalogueImage', () => {
  it('answers who lists a name, and only that name', () => {
    const image = openCompiled(
      definition(
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

  it('holds what a plain map holds, whatever is listed', () => {
    const domains = fc.array(
      fc.nat({ max: 400 }).map((n) => `d${n}.example`),
      { maxLength: 300 },
    );
    const groups = fc
      .uniqueArray(fc.tuple(fc.nat({ max: 2_147_483_647 }), domains), {
        selector: ([id]) => id,
        maxLength: 8,
      })
      .map((all) => all.map(([id, listed]) => group(id, ...listed)));
    fc.assert(
      fc.property(groups, groups, (categories, applications) => {
        const image = openCompiled(definition(categories, applications));
        const idsOf = (all: typeof categories, domain: string): number[] =>
          all
            .filter((one) => one.domains.includes(domain))
            .map((one) => one.id)
            .sort((a, b) => a - b);
        for (let n = 0; n <= 400; n++) {
          const domain = `d${n}.example`;
          expect(lookUp(image, domain)).toEqual({
            categories: idsOf(categories, domain),
            applications: idsOf(applications, domain),
          });
        }
        for (const summary of image.categories) {
          const { domains: listed } = categories.find((one) => one.id === summary.id)!;
          expect(summary.domains).toBe(new Set(listed).size);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('finds each of 200,000 names within 12 bytes a name, and none of as many others', () => {
    const listed = Array.from({ length: 200_000 }, (_, i) => `n${i}.example`);
    const { image: bytes } = compileCatalogue(
      definition([{ id: 1, name: 'many', domains: listed }]),
      KEY,
    );
    expect(bytes.length / listed.length).toBeLessThan(12);
    const image = CatalogueImage.open(bytes, KEY);
    expect(image.domainCount).toBe(listed.length);
    expect(listed.filter((name) => lookUp(image, name).categories.length !== 1)).toEqual([]);
    const others = Array.from({ length: 200_000 }, (_, i) => `m${i}.example`);
    expect(others.filter((name) => lookUp(image, name).categories.length !== 0)).toEqual([]);
  });

  it('rules out all but a few names by its filter', () => {
    const listed = Array.from({ length: 50_000 }, (_, i) => `n${i}.example`);
    const image = openCompiled(definition([{ id: 1, name: 'many', domains: listed }]));
    let passed = 0;
    for (let i = 0; i < 50_000; i++) {
      hashes.compute(toWireName(`m${i}.example`), 0);
      passed += (image.mayList(hashes) >>> 1) & 1;
    }
    expect(passed / 50_000).toBeLessThan(0.06);
  });

  it('rules out nothing below the 31st label of a long name', () => {
    const long = `${'a.'.repeat(40)}example`;
    const image = openCompiled(definition([group(1, long)]));
    expect(hashes.compute(toWireName(`b.${long}`), 0)).toBe(42);
    expect(image.mayList(hashes) >>> 31).toBe(1);
    expect(image.memberships[image.find(hashes, 40)]).toBe(1);
  });

  it('holds more combinations than two bytes can number', () => {
    const categories = Array.from({ length: 17 }, (_, bit) =>
      group(
        bit,
        ...Array.from({ length: 70_000 }, (_, n) => n + 1)
          .filter((n) => (n >> bit) & 1)
          .map((n) => `c${n}.example`),
      ),
    );
    const image = openCompiled(definition(categories));
    expect(lookUp(image, 'c69999.example').categories).toEqual(
      categories.map(({ id }) => id).filter((bit) => (69_999 >> bit) & 1),
    );
    expect(lookUp(image, 'c1.example').categories).toEqual([0]);
  });

  it('opens an empty catalogue', () => {
    const image = openCompiled(definition([]));
    hashes.compute(toWireName('a.b.c.example'), 0);
    hashes.high.set([0, 0xffff_ffff, 0xffff_ffff]);
    hashes.low.set([0, 0xffff_ffff, 5]);
    for (let suffix = 0; suffix < 4; suffix++) expect(image.find(hashes, suffix)).toBe(0);
    expect([image.categories, image.applications]).toEqual([[], []]);
  });

  it('works in memory that threads share, and at any offset', () => {
    const { image } = compileCatalogue(definition([group(1, 'a.example')]), KEY);
    const shared = new Uint8Array(new SharedArrayBuffer(image.length));
    shared.set(image);
    expect(lookUp(CatalogueImage.open(shared, KEY), 'a.example').categories).toEqual([1]);
    const shifted = new Uint8Array(image.length + 1).subarray(1);
    shifted.set(image);
    expect(lookUp(CatalogueImage.open(shifted, KEY), 'a.example').categories).toEqual([1]);
  });
});

describe('CatalogueImage.open', () => {
  const sound = compileCatalogue(definition([group(1, 'a.example', 'b.example')]), KEY).image;

  it('refuses an image with any one byte changed', () => {
    for (let i = 0; i < sound.length; i++) {
      const broken = sound.slice();
      broken[i] ^= 0x10;
      expect(() => CatalogueImage.open(broken, KEY), `byte ${i}`).toThrow(CatalogueError);
    }
  });

  it('refuses an image cut short or run over', () => {
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

  it('refuses sections outside of the image even where the checksum is not looked at', () => {
    const broken = sound.slice();
    new DataView(broken.buffer).setUint32(Header.slotCount, 1_000_000, true);
    expect(() => CatalogueImage.open(broken, KEY, { checksumVerified: true })).toThrow(
      'lies outside',
    );
  });
});

describe('compileCatalogue', () => {
  it('gives the same image in whatever order things are listed', () => {
    const one = compileCatalogue(
      definition([group(1, 'a.example', 'b.example'), group(2, 'a.example')]),
      KEY,
    );
    const other = compileCatalogue(
      definition([group(2, 'a.example', 'a.example'), group(1, 'b.example', 'a.example')]),
      KEY,
    );
    expect(other.sha256).toBe(one.sha256);
    expect(other.image).toEqual(one.image);
    expect(one.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gives another image under another key', () => {
    const listed = definition([group(1, 'a.example')]);
    expect(compileCatalogue(listed, OTHER_KEY).sha256).not.toBe(
      compileCatalogue(listed, KEY).sha256,
    );
  });
});
