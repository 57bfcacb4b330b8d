import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDefinition } from '../definition/read-definition.js';
import { readDlcLists } from '../lists/formats/dlc.js';
import { buildCatalogue, type Groups, type Upstream } from './testing/build-catalogue.js';
import { covers, FOLDER, namesIn } from './testing/default-catalogue.js';

async function readUpstream(): Promise<Upstream> {
  const text = (name: string) => readFile(join(FOLDER, 'upstream', name), 'utf8');
  const archive = createReadStream(join(FOLDER, 'upstream/domain-list-community.tar.gz'));
  return {
    groups: parse(await text('groups.yaml')) as Groups,
    lists: await readDlcLists(archive.pipe(createGunzip())),
    thirdParty: JSON.parse(await text('third-party-web.json')) as Upstream['thirdParty'],
  };
}

const upstream = await readUpstream();
const files = buildCatalogue(upstream);
const { applications, categories } = upstream.groups;

describe('the lists of the default catalogue', () => {
  it.each([...files])('%s is made of the lists in upstream', async (path, text) => {
    await expect(text).toMatchFileSnapshot(join(FOLDER, path));
  });

  it('a category has the domains of its applications', async () => {
    const definition = await readDefinition(FOLDER);
    for (const { id, file, except = [] } of categories) {
      const category = definition.categories.find((one) => one.id === id);
      const listed = new Set([
        ...(category?.domains ?? []),
        ...namesIn(files.get(`lists/${file}.txt`) ?? ''),
      ]);
      const own = applications.filter((application) => application.categories?.includes(id));
      for (const { id: application, name } of own) {
        const built = definition.applications.find((one) => one.id === application);
        const missing = (built?.domains ?? []).filter(
          (domain) => !except.includes(domain) && !covers(listed, domain),
        );
        expect(missing, `${name} in ${file}`).toEqual([]);
      }
    }
  });

  it('an application has an id and a name of its own, and a category has one of the definition', async () => {
    const definition = await readDefinition(FOLDER);
    for (const key of ['id', 'name'] as const) {
      expect(new Set(applications.map((one) => one[key])).size).toBe(applications.length);
    }
    const known = definition.categories.map(({ id }) => id);
    const used = applications.flatMap((one) => one.categories ?? []);
    expect(known).toEqual(expect.arrayContaining([...new Set(used)]));
    expect(categories.map(({ id }) => id)).toEqual(expect.arrayContaining([...new Set(used)]));
  });
});
