import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueError } from './catalogue-error.js';
import type { Definition } from './definition.js';
import { readDefinition } from './read-definition.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(files: Record<string, string>): Promise<Definition> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return readDefinition(folder);
}

const VALID = `
categories:
  - id: 12
    name: Gambling
    domains: [Bet.Example., bücher.example]
    sources:
      - file: lists/gambling.txt
        format: domains
  - { id: 2, name: Empty }
applications:
  - id: 3
    name: Video
    domains:
      - video.example
`;

describe('readDefinition', () => {
  it('reads groups by id, with inline domains and those of list files in normal form', async () => {
    const list = '# gambling\n\npoker.example # cards\nno domain\n  CASINO.example\r\n*.x\n';
    const { categories, applications, reports } = await read({
      'catalogue.yaml': VALID,
      'lists/gambling.txt': list,
    });
    expect(categories).toEqual([
      { id: 2, name: 'Empty', domains: [] },
      {
        id: 12,
        name: 'Gambling',
        domains: ['bet.example', 'xn--bcher-kva.example', 'poker.example', 'casino.example'],
      },
    ]);
    expect(applications).toEqual([{ id: 3, name: 'Video', domains: ['video.example'] }]);
    expect(reports).toEqual([
      {
        file: 'lists/gambling.txt',
        domains: 2,
        invalidLines: 2,
        examples: [
          { line: 4, problem: expect.stringContaining('letters, digits') },
          { line: 6, problem: expect.stringContaining('letters, digits') },
        ],
      },
    ]);
  });

  it('reports the first ten invalid lines only', async () => {
    const list = `a.example\n${'!\n'.repeat(25)}`;
    const yaml = 'categories: [{id: 1, name: a, sources: [{file: l, format: domains}]}]';
    const { reports } = await read({ 'catalogue.yaml': yaml, l: list });
    expect(reports[0]).toMatchObject({ domains: 1, invalidLines: 25 });
    expect(reports[0].examples.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it.each([
    ['categories: [', /^catalogue\.yaml:1: /],
    ['categories: 7', /^catalogue\.yaml:1: categories: must be a list$/],
    ['- 1', /^catalogue\.yaml:1: must be a map of categories, applications$/],
    ['', /^catalogue\.yaml:1: must be a map/],
    [
      'category: []',
      /^catalogue\.yaml:1: category: unknown field, known are categories, applications$/,
    ],
    ['categories:\n  - name: a', /^catalogue\.yaml:2: categories\[0\]: id is missing$/],
    ['categories:\n  - id: 1', /^catalogue\.yaml:2: categories\[0\]: name is missing$/],
    [
      'categories:\n  - id: "1"\n    name: a',
      /^catalogue\.yaml:2: categories\[0\]\.id: must be an integer from 0 to 2147483647$/,
    ],
    ['categories:\n  - id: -1\n    name: a', /categories\[0\]\.id: must be an integer/],
    [
      'categories:\n  - id: 1\n    name: ""',
      /^catalogue\.yaml:3: categories\[0\]\.name: must be a text of 1 to 200 characters$/,
    ],
    ['categories:\n  - id: 1\n    name:', /categories\[0\]\.name: must be a text/],
    [
      'categories:\n  - id: 1\n    name: a\n    domain: b',
      /^catalogue\.yaml:4: categories\[0\]\.domain: unknown field/,
    ],
    [
      'categories:\n  - id: 1\n    name: a\n  - id: 1\n    name: b',
      /^catalogue\.yaml:4: categories\[1\]\.id: id 1 stands in line 2 already$/,
    ],
    [
      'categories:\n  - id: 1\n    name: a\n    domains:\n      - a.example\n      - "*.b.example"',
      /^catalogue\.yaml:6: categories\[0\]\.domains\[1\]: "\*\.b\.example" may hold letters/,
    ],
    ['categories:\n  - id: 1\n    name: a\n    domains: [7]', /domains\[0\]: must be a text/],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: csv}]}',
      /sources\[0\]\.format: must be one of domains, hosts/,
    ],
    ['categories:\n  - {id: 1, name: a, sources: [{file: a}]}', /sources\[0\]: format is missing/],
    [
      'categories:\n  - {id: 1, name: a, sources: [{format: domains}]}',
      /sources\[0\]: file is missing/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: hosts}]}',
      /sources\[0\]: only a file of format domains can be read/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: ../a, format: domains}]}',
      /sources\[0\]\.file: must be a path within the folder/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: absent, format: domains}]}',
      /sources\[0\]\.file: absent cannot be read: ENOENT/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: catalogue.yaml, format: domains}]}',
      /sources\[0\]\.file: catalogue\.yaml lists no domain/,
    ],
    ['a: 1\na: 2', /^catalogue\.yaml:2: /],
  ])('refuses %j', async (text, message) => {
    const failure = await read({ 'catalogue.yaml': text }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CatalogueError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
  });

  it('refuses a folder without a definition', async () => {
    await expect(readDefinition(folder)).rejects.toThrow(/catalogue\.yaml: cannot be read: ENOENT/);
  });

  it('lets a category and an application have the same id', async () => {
    const text = 'categories: [{id: 1, name: a}]\napplications: [{id: 1, name: a}]';
    await expect(read({ 'catalogue.yaml': text })).resolves.toBeDefined();
  });
});

describe('the default catalogue', () => {
  it('is sound: twenty categories and twenty applications at least, none of them empty', async () => {
    const { categories, applications } = await readDefinition(
      fileURLToPath(new URL('../../../catalogue', import.meta.url)),
    );
    expect(categories.length).toBeGreaterThanOrEqual(20);
    expect(applications.length).toBeGreaterThanOrEqual(20);
    for (const { name, domains } of [...categories, ...applications]) {
      expect(domains.length, name).toBeGreaterThan(0);
      expect(new Set(domains).size, name).toBe(domains.length);
    }
  });
});
