import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sourcesOf } from './definition/definition.js';
import { parseDefinition } from './definition/parse-definition.js';

const FOLDER = fileURLToPath(new URL('../../../catalogue', import.meta.url));
const text = await readFile(`${FOLDER}/catalogue.yaml`, 'utf8');
const definition = parseDefinition(text, { path: FOLDER });
const { categories, applications } = definition;

/** The categories that block names. */
const filtering = categories.filter(({ rewrites }) => rewrites.length === 0);

/** Whether one of the names is the other, or covers it. */
function overlap(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}

describe('the default catalogue', () => {
  it('has at least twenty categories and sixty applications, each with domains', () => {
    expect(categories.length).toBeGreaterThanOrEqual(20);
    expect(applications.length).toBeGreaterThanOrEqual(60);
    for (const { name, domains } of applications) expect(domains.length, name).toBeGreaterThan(0);
    for (const { name, domains } of filtering) expect(domains.length, name).toBeGreaterThan(2);
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

  it('has no domain in two applications', () => {
    const owned = applications.flatMap(({ name, domains }) =>
      domains.map((domain) => ({ name, domain })),
    );
    const shared = owned.flatMap((one, i) =>
      owned
        .slice(i + 1)
        .filter((other) => one.name !== other.name && overlap(one.domain, other.domain))
        .map((other) => `${one.name}: ${one.domain}, ${other.name}: ${other.domain}`),
    );
    expect(shared).toEqual([]);
  });

  it('needs no source, and has valid public lists in comments for every category', () => {
    expect(sourcesOf(definition)).toEqual([]);
    const withSources = text.replace(/^ {4}# (sources:| {2}- )/gm, '    $1');
    const { categories: sourced } = parseDefinition(withSources, { path: FOLDER });
    for (const { name, sources, rewrites } of sourced) {
      if (rewrites.length > 0) continue;
      expect(sources.length, name).toBeGreaterThan(0);
      for (const { location } of sources) expect(location).toHaveProperty('url');
    }
  });
});
