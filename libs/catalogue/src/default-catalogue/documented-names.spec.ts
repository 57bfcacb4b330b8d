import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Groups } from './testing/build-catalogue.js';
import { covers, FOLDER, readDefaultCatalogue } from './testing/default-catalogue.js';

interface Documented {
  readonly repositories: Readonly<Record<string, string>>;
  /** By id of an application: where they were read, and names between spaces. */
  readonly applications: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const FILE = fileURLToPath(new URL('documented-names.yaml', import.meta.url));
const documented = parse(await readFile(FILE, 'utf8')) as Documented;
const ids = Object.keys(documented.applications).map(Number);

const plans = parse(await readFile(join(FOLDER, 'upstream/groups.yaml'), 'utf8')) as Groups;
const { applications, categories } = await readDefaultCatalogue();

describe('the names that documents and clients of applications ask for', () => {
  it('are of more than a hundred applications, each with the place where they were read', () => {
    expect(ids.length).toBeGreaterThan(100);
    for (const [id, sources] of Object.entries(documented.applications)) {
      for (const source of Object.keys(sources)) {
        const [repository] = source.split(' ');
        expect(documented.repositories[repository] ?? source, id).toMatch(/^https:\/\/\S+$/);
      }
    }
  });

  it.each(ids)('application %i has all of its own, and so have its categories', (id) => {
    const names = Object.values(documented.applications[id]).flatMap((some) => some.split(' '));
    const missing = (listed: ReadonlySet<string>) => names.filter((name) => !covers(listed, name));
    const application = applications.find((one) => one.id === id)!;
    expect(missing(application.names), application.name).toEqual([]);
    for (const category of plans.applications.find((plan) => plan.id === id)?.categories ?? []) {
      const except = plans.categories.find((plan) => plan.id === category)?.except ?? [];
      const { name, names: listed } = categories.find((one) => one.id === category)!;
      expect(missing(new Set([...listed, ...except])), name).toEqual([]);
    }
  });
});
