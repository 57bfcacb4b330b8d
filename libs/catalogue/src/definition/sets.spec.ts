import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectNames } from '../lists/testing/lists.js';
import { readDefinition } from './read-definition.js';
import { disableSet, enableSet, readSets } from './sets.js';
import { LIST_SAMPLES } from './testing/list-samples.js';

const DEFAULT = fileURLToPath(new URL('../../../../catalogue', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-sets-'));
});
afterEach(() => rm(folder, { recursive: true }));

const SET = `# Bad names
# of somebody.
categories:
  - id: 1
    sources: [{ file: bad.txt, format: domains }]
`;
const CATEGORY = 'categories: [{ id: 1, name: Bad }]\n';

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

describe('readSets', () => {
  it('tells what each set is, and whether it is on', async () => {
    await write({
      'catalogue.yaml': `include: [sets/good.yaml]\n${CATEGORY}`,
      'sets/bad.yaml': SET,
      'sets/good.yaml': SET.replaceAll('bad', 'good').replace('Bad', 'Good'),
      'sets/README': 'no set',
    });
    const sets = await readSets(folder);
    expect(sets.map(({ sources, ...set }) => [set, sources.map(({ name }) => name)])).toEqual([
      [
        { name: 'bad', about: 'Bad names of somebody.', isEnabled: false, fault: null },
        ['bad.txt'],
      ],
      [
        { name: 'good', about: 'Good names of somebody.', isEnabled: true, fault: null },
        ['good.txt'],
      ],
    ]);
  });

  it('finds none in a folder without sets, and refuses a catalogue.yaml with a fault', async () => {
    await write({ 'catalogue.yaml': CATEGORY });
    expect(await readSets(folder)).toEqual([]);
    await write({ 'catalogue.yaml': 'categories: [{ id: 2 }]', 'sets/bad.yaml': SET });
    await expect(readSets(folder)).rejects.toThrow(/^catalogue\.yaml:1: categories\[0\]: name is/);
  });

  it.each(['', 'include: [sets/bad.yaml, sets/torn.yaml]\n'])(
    'tells the fault of one set, and what the others are, after %j',
    async (include) => {
      await write({
        'catalogue.yaml': include + CATEGORY,
        'sets/bad.yaml': 'categories: [{ id: 2 }]',
        'sets/good.yaml': SET,
        'sets/torn.yaml': 'categories: [',
      });
      const sets = await readSets(folder);
      expect(sets.map(({ sources, fault }) => [sources.map(({ name }) => name), fault])).toEqual([
        [[], expect.stringMatching(/^sets\/bad\.yaml:1: categories\[0\]: name is/)],
        [['bad.txt'], null],
        [[], expect.stringMatching(/^sets\/torn\.yaml:1: /)],
      ]);
    },
  );
});

describe('enableSet', () => {
  it.each([
    [CATEGORY, `include: [sets/bad.yaml]\n\n${CATEGORY}`],
    [`# Ours\n\n${CATEGORY}`, `# Ours\n\ninclude: [sets/bad.yaml]\n\n${CATEGORY}`],
    [`include: []\n${CATEGORY}`, `include: [sets/bad.yaml]\n${CATEGORY}`],
    [
      `include: [own.yaml] # ours\n${CATEGORY}`,
      `include: [own.yaml, sets/bad.yaml] # ours\n${CATEGORY}`,
    ],
    [
      `${CATEGORY}include:\n  - own.yaml # ours\n`,
      `${CATEGORY}include:\n  - own.yaml # ours\n  - sets/bad.yaml\n`,
    ],
    [
      `${CATEGORY}include:\n  - own.yaml # ours`,
      `${CATEGORY}include:\n  - own.yaml # ours\n  - sets/bad.yaml`,
    ],
  ])('adds one line to %j', async (before, after) => {
    await write({ 'catalogue.yaml': before, 'own.yaml': 'categories: []\n', 'sets/bad.yaml': SET });
    expect(await enableSet(folder, 'bad')).toBe(true);
    expect(await readFile(join(folder, 'catalogue.yaml'), 'utf8')).toBe(after);
    const { included, categories } = await readDefinition(folder);
    expect(included).toContain('sets/bad.yaml');
    expect(categories[0].sources.map(({ name }) => name)).toEqual(['bad.txt']);
    expect(await enableSet(folder, 'bad')).toBe(false);
  });

  it('writes the file that a link leads to, with the mode that it has', async () => {
    await write({ 'catalogue.yaml': CATEGORY, 'sets/bad.yaml': SET });
    const [link, file] = ['catalogue.yaml', 'ours.yaml'].map((name) => join(folder, name));
    await rename(link, file);
    await symlink('ours.yaml', link);
    await chmod(file, 0o666);
    expect(await enableSet(folder, 'bad')).toBe(true);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o666);
    expect((await readDefinition(folder)).included).toEqual(['sets/bad.yaml']);
  });

  it('refuses a set with a fault, not one beside it', async () => {
    const torn = 'categories: [{ id: 2 }]';
    await write({ 'catalogue.yaml': CATEGORY, 'sets/bad.yaml': SET, 'sets/torn.yaml': torn });
    await expect(enableSet(folder, 'torn')).rejects.toThrow(/^sets\/torn\.yaml:1: /);
    expect(await enableSet(folder, 'bad')).toBe(true);
  });

  it.each([
    '{ categories: [{ id: 1, name: Bad }] }\n',
    '  categories:\n    - { id: 1, name: Bad }\n',
  ])('leaves %j as it is, which its edit would break', async (text) => {
    await write({ 'catalogue.yaml': text, 'sets/bad.yaml': SET });
    await expect(enableSet(folder, 'bad')).rejects.toThrow(/not edited: add sets\/bad\.yaml to/);
    expect(await readFile(join(folder, 'catalogue.yaml'), 'utf8')).toBe(text);
  });

  it('refuses a set that is not there', async () => {
    await write({ 'catalogue.yaml': CATEGORY });
    await expect(enableSet(folder, 'bad')).rejects.toThrow(/sets has no set bad$/);
  });
});

describe('readDefinition with sets', () => {
  it('includes each after what catalogue.yaml includes, once', async () => {
    const sample = CATEGORY.replace('Bad', 'Bad, sample: true');
    await write({ 'catalogue.yaml': sample, 'sets/bad.yaml': SET });
    const off = await readDefinition(folder);
    expect(off.categories).toMatchObject([{ isSample: true, sources: [] }]);
    const on = await readDefinition(folder, ['bad', 'bad']);
    expect(on.included).toEqual(['sets/bad.yaml']);
    expect(on.categories).toMatchObject([{ isSample: false, sources: [{ name: 'bad.txt' }] }]);
    await enableSet(folder, 'bad');
    expect(await readDefinition(folder, ['bad'])).toMatchObject({ included: ['sets/bad.yaml'] });
  });

  it('names those that there are, when one is not there', async () => {
    await write({ 'catalogue.yaml': CATEGORY, 'sets/bad.yaml': SET, 'sets/good.yaml': SET });
    await expect(readDefinition(folder, ['bad', 'worse'])).rejects.toThrow(
      'CATALOGUE_SETS: no set worse; there are: bad, good',
    );
  });
});

describe('disableSet', () => {
  it.each([
    [`# Ours\n\ninclude: [sets/bad.yaml]\n\n${CATEGORY}`, `# Ours\n\ninclude: []\n\n${CATEGORY}`],
    [`include: [own.yaml, sets/bad.yaml] # ours\n`, 'include: [own.yaml] # ours\n'],
    [`include: [sets/bad.yaml, own.yaml]\n`, 'include: [own.yaml]\n'],
    ['include: [sets/bad.yaml , a.yaml]\n', 'include: [a.yaml]\n'],
    ['include: [ sets/bad.yaml ,a.yaml ]\n', 'include: [ a.yaml ]\n'],
    ['include: [\n  sets/bad.yaml , a.yaml,\n]\n', 'include: [\n  a.yaml,\n]\n'],
    ['include: [\n  sets/bad.yaml\n  , a.yaml\n]\n', 'include: [\n  a.yaml\n]\n'],
    [`include: [a.yaml, 'sets/bad.yaml', own.yaml]\n`, 'include: [a.yaml, own.yaml]\n'],
    [
      `include:\n  - own.yaml # ours\n  - sets/bad.yaml\n${CATEGORY}`,
      `include:\n  - own.yaml # ours\n${CATEGORY}`,
    ],
    [`include:\n  - sets/bad.yaml # on\n${CATEGORY}`, `include:\n    []\n${CATEGORY}`],
    ['include: [\n  a.yaml, # a\n  sets/bad.yaml, # on\n]\n', 'include: [\n  a.yaml, # a\n]\n'],
    ['include: [\n  a.yaml, # a\n  sets/bad.yaml\n]\n', 'include: [\n  a.yaml, # a\n]\n'],
    ['include: [a.yaml, # a\n  sets/bad.yaml]\n', 'include: [a.yaml, # a\n  ]\n'],
    ['include: [a.yaml, # a\n  sets/bad.yaml, b.yaml]\n', 'include: [a.yaml, # a\n  b.yaml]\n'],
    [
      'include: [\n  sets/bad.yaml, # on\n  # for us\n  b.yaml,\n]\n',
      'include: [\n  # for us\n  b.yaml,\n]\n',
    ],
    [
      'include: [sets/bad.yaml, # on\n  # for us\n  b.yaml]\n',
      'include: [ # on\n  # for us\n  b.yaml]\n',
    ],
    ['include: [\n  sets/bad.yaml, # on\n]\n', 'include: [\n]\n'],
  ])('removes one entry from %j', async (before, after) => {
    // What else is included needs not be there, nor the set.
    await write({ 'catalogue.yaml': before });
    expect(await disableSet(folder, 'bad')).toBe(true);
    expect(await readFile(join(folder, 'catalogue.yaml'), 'utf8')).toBe(after);
    await expect(disableSet(folder, 'bad')).rejects.toThrow(/sets has no set bad$/);
    await write({ 'sets/bad.yaml': 'categories: [' });
    expect(await disableSet(folder, 'bad')).toBe(false);
  });

  it.each([
    `include: []\n${CATEGORY}`,
    `include:\n  - own.yaml # ours\n${CATEGORY}`,
    `include: [\n  own.yaml, # ours\n]\n${CATEGORY}`,
  ])('undoes what enableSet did in %j', async (before) => {
    await write({ 'catalogue.yaml': before, 'own.yaml': 'categories: []\n', 'sets/bad.yaml': SET });
    await enableSet(folder, 'bad');
    await disableSet(folder, 'bad');
    expect(await readFile(join(folder, 'catalogue.yaml'), 'utf8')).toBe(before);
  });

  it('leaves a layout as it is that its edit would break', async () => {
    const text = `include:\n - sets/bad.yaml\n - &same sets/bad.yaml\n${CATEGORY}`;
    await write({ 'catalogue.yaml': text });
    await expect(disableSet(folder, 'bad')).rejects.toThrow(/remove sets\/bad\.yaml from its/);
    expect(await readFile(join(folder, 'catalogue.yaml'), 'utf8')).toBe(text);
  });
});

describe('the sets of the default catalogue', () => {
  it('are off, and each says its licence and whether a provider may use it', async () => {
    const sets = await readSets(DEFAULT);
    expect(sets.length).toBeGreaterThan(10);
    for (const { name, about, isEnabled, sources } of sets) {
      expect([name, isEnabled, about.length > 15]).toEqual([name, false, true]);
      expect(sources.length, name).toBeGreaterThan(0);
      for (const { location, licence, commercialUse } of sources) {
        expect(location, name).toHaveProperty('url');
        expect(licence, name).not.toBeNull();
        expect(commercialUse, name).not.toBeNull();
      }
    }
  });

  it('can be turned on one after the other', async () => {
    await cp(DEFAULT, folder, { recursive: true });
    const names = (await readSets(folder)).map(({ name }) => name);
    for (const name of names) expect(await enableSet(folder, name)).toBe(true);
    expect((await readDefinition(folder)).included).toEqual([
      'applications.yaml',
      ...names.map((name) => `sets/${name}.yaml`),
    ]);
  });

  it('say how long each list was on a day, or that nobody says it', async () => {
    for (const { name, sources } of await readSets(DEFAULT)) {
      for (const { size } of sources) expect(size, name).not.toBeNull();
    }
  });

  it('are of lists that can be read as they are: of each there is a sample in its form', async () => {
    for (const { name, sources } of await readSets(DEFAULT)) {
      for (const { location, format, licence, mirrors } of sources) {
        const { url } = location as { url: string };
        const one = LIST_SAMPLES.filter((sample) => url.endsWith(sample.url));
        expect(one, `${name}: ${url}`).toHaveLength(1);
        expect(one[0].licence, url).toBe(licence);
        const report = await expectNames(one[0].list, format, one[0].names);
        expect(report, url).toMatchObject({ invalidLines: 0 });
        expect(mirrors, url).not.toContainEqual(location);
      }
    }
  });
});
