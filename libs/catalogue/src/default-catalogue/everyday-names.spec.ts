import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { covers, type DefaultGroup, readDefaultCatalogue } from './testing/default-catalogue.js';

type Listed = Readonly<Partial<Record<'categories' | 'applications', readonly number[]>>>;
interface Everyday {
  /** By kind: names between spaces. */
  readonly names: Readonly<Record<string, string>>;
  /** By name: the ids of those that list it. */
  readonly but: Readonly<Record<string, Listed>>;
}

const FILE = fileURLToPath(new URL('everyday-names.yaml', import.meta.url));
const { names, but } = parse(await readFile(FILE, 'utf8')) as Everyday;
const all = Object.values(names).flatMap((some) => some.split(' '));
const { categories, applications } = await readDefaultCatalogue();

describe('names that everybody needs', () => {
  it('are at least 300, each once', () => {
    expect(all.length).toBeGreaterThanOrEqual(300);
    expect(new Set(all).size).toBe(all.length);
    expect(all).toEqual(expect.arrayContaining(Object.keys(but)));
  });

  it.each(Object.entries(names))(
    'of %s are listed by what is meant to list them',
    (_kind, some) => {
      for (const name of some.split(' ')) {
        const listing = (groups: readonly DefaultGroup[]) =>
          groups.filter((group) => covers(group.names, name)).map(({ id }) => id);
        const listed = { categories: listing(categories), applications: listing(applications) };
        expect(listed, name).toEqual({ categories: [], applications: [], ...but[name] });
      }
    },
  );
});
