import { readdir } from 'node:fs/promises';
import { parseHashKey } from '@weir/dns-name';
import { describe, expect, it } from 'vitest';
import { sourcesOf } from '../definition/definition.js';
import { readDefinition } from '../definition/read-definition.js';
import { visitNames } from '../lists/read-names.js';
import { openSource } from '../sources/open-source.js';
import { covers, FOLDER, namesOfLists } from './testing/default-catalogue.js';

const { categories, applications, ...rest } = await readDefinition(FOLDER);

const KEY = parseHashKey('0'.repeat(32));

/** The categories that block names. */
const filtering = categories.filter(({ rewrites }) => rewrites.length === 0);

/** Whether one of the names is the other, or covers it. */
function overlap(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}

describe('the default catalogue', () => {
  it('has at least thirty categories and 500 applications, each with domains', () => {
    expect(categories.length).toBeGreaterThanOrEqual(30);
    expect(applications.length).toBeGreaterThanOrEqual(500);
    for (const { name, domains } of applications) expect(domains.length, name).toBeGreaterThan(0);
    const empty = filtering.filter(({ domains, sources }) => domains.length + sources.length === 0);
    expect(empty.map(({ id, mandatory, secret }) => [id, mandatory, secret])).toEqual([
      [31, true, false],
      [32, true, true],
      [33, true, false],
      [34, false, false],
    ]);
  });

  it('enforces safe search by categories that rewrite names, and block neither these nor their targets', () => {
    const rewriting = categories.filter(({ rewrites }) => rewrites.length > 0);
    expect(rewriting.map(({ id }) => id)).toEqual([21, 22, 23]);
    const blocked = rewriting.flatMap(({ domains }) => domains);
    for (const { rewrites } of rewriting) {
      const names = rewrites.flatMap((rewrite) => rewrite.names);
      expect(new Set(names).size).toBe(names.length);
      const targets = rewrites.map(({ to }) => to);
      // A target that is rewritten itself would be the wrong one.
      for (const target of targets) expect(names).not.toContain(target);
      const lost = [...names, ...targets].filter((name) =>
        blocked.some((domain) => name === domain || name.endsWith(`.${domain}`)),
      );
      expect(lost).toEqual([]);
    }
    const [search] = rewriting;
    expect(search.rewrites[0].names).toEqual(
      expect.arrayContaining(['www.google.com', 'www.google.co.uk']),
    );
  });

  it('has a different name for each category and application', () => {
    for (const groups of [categories, applications]) {
      expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
    }
  });

  it('has each category in one of ten groups, from which a back office builds its menu', () => {
    const groups = categories.map(({ group }) => group);
    expect(groups).not.toContain(null);
    expect(new Set(groups).size).toBe(10);
  });

  it('lists no domain twice in a group, and none below another one of the group', () => {
    const redundant = [...categories, ...applications].flatMap(({ name, domains }) =>
      domains.flatMap((domain, i) =>
        domains
          .filter((other, k) => k > i && overlap(domain, other))
          .map((other) => `${name}: ${domain}, ${other}`),
      ),
    );
    expect(redundant).toEqual([]);
  });

  it('has by hand no domain that a list of the category has', async () => {
    for (const category of categories) {
      const listed = await namesOfLists(category);
      const twice = category.domains.filter((domain) => covers(listed, domain));
      expect(twice, category.name).toEqual([]);
    }
  });

  it('needs no request: each of its lists is a file of the folder, and is read whole', async () => {
    const sources = sourcesOf({ categories, applications, ...rest });
    const files = (await readdir(`${FOLDER}/lists`)).map((file) => `lists/${file}`);
    expect(sources.map(({ name }) => name).sort()).toEqual(files.sort());
    for (const source of sources) {
      const opened = await openSource(source, { maxBytes: 1e7, timeoutMs: 60_000 });
      if (opened.status === 'unchanged') throw new Error('unchanged');
      const report = await visitNames(opened.body, source.format, KEY, () => undefined);
      expect(report, source.name).toMatchObject({ skipped: 0, invalidLines: 0 });
      expect(source, source.name).toMatchObject({ licence: 'MIT', commercialUse: 'true' });
    }
  });
});
