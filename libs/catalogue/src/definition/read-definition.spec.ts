import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueError, DefinitionFaults } from '../catalogue-error.js';
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
        licence: CC-BY-SA-4.0
        commercial_use: true
        size: 32247 names on 2026-08-17
      - url: https://me:secret@lists.example/gambling?key=secret
        format: hosts
        refresh: 90m
  - { id: 2, name: Empty }
applications:
  - id: 3
    name: Video
    domains:
      - video.example
`;

const GUARDED = {
  ...{ group: null, purpose: 'other', isGuarded: true },
  ...{ mandatory: false, secret: false, isSample: false },
};
const at = (line: number) => ({ file: 'catalogue.yaml', line });
const SHA256 = 'ab'.repeat(32);

describe('readDefinition', () => {
  it('reads groups by id, with inline domains in normal form and sources by name', async () => {
    const { categories, applications } = await read({ 'catalogue.yaml': VALID });
    expect(categories).toEqual([
      {
        id: 2,
        name: 'Empty',
        ...GUARDED,
        domains: [],
        domainPlaces: [],
        sources: [],
        rewrites: [],
      },
      {
        id: 12,
        name: 'Gambling',
        ...GUARDED,
        domains: ['bet.example', 'xn--bcher-kva.example'],
        domainPlaces: [at(5), at(5)],
        sources: [
          {
            name: 'lists/gambling.txt',
            location: { path: join(folder, 'lists/gambling.txt') },
            mirrors: [],
            format: 'domains',
            list: null,
            sha256: null,
            refreshMs: null,
            licence: 'CC-BY-SA-4.0',
            commercialUse: 'true',
            size: { names: 32_247, on: '2026-08-17' },
            declaredAt: 'catalogue.yaml:7: categories[0].sources[0]',
          },
          {
            name: 'https://lists.example/gambling?c28002e9',
            location: { url: 'https://me:secret@lists.example/gambling?key=secret' },
            mirrors: [],
            format: 'hosts',
            list: null,
            sha256: null,
            refreshMs: 90 * 60_000,
            licence: null,
            commercialUse: null,
            size: null,
            declaredAt: 'catalogue.yaml:12: categories[0].sources[1]',
          },
        ],
        rewrites: [],
      },
    ]);
    expect(applications).toEqual([
      {
        id: 3,
        name: 'Video',
        ...GUARDED,
        isGuarded: false,
        domains: ['video.example'],
        domainPlaces: [at(20)],
        sources: [],
        rewrites: [],
      },
    ]);
  });

  it('adds what included files say to the groups of the files before them', async () => {
    const { categories, applications } = await read({
      'catalogue.yaml': `include: [apps.yaml, sets/threats.yaml]
categories:
  - { id: 3, name: Malware, purpose: security, domains: [a.example] }
never_block: [bank.example]
`,
      'apps.yaml': 'applications:\n  - { id: 1, name: Video, domains: [video.example] }\n',
      'sets/threats.yaml': `categories:
  - id: 3
    domains: [b.example]
    sources: [{ file: lists/threats.txt, format: domains }]
`,
    });
    expect(categories).toEqual([
      {
        ...GUARDED,
        ...{ id: 3, name: 'Malware', purpose: 'security', isGuarded: true },
        domains: ['a.example', 'b.example'],
        domainPlaces: [at(3), { file: 'sets/threats.yaml', line: 3 }],
        sources: [
          expect.objectContaining({
            location: { path: join(folder, 'lists/threats.txt') },
            declaredAt: 'sets/threats.yaml:4: categories[0].sources[0]',
          }),
        ],
        rewrites: [],
      },
    ]);
    expect(applications.map(({ name, domainPlaces }) => [name, domainPlaces])).toEqual([
      ['Video', [{ file: 'apps.yaml', line: 2 }]],
    ]);
  });

  it.each([
    [
      '{ id: 1, name: b }',
      /^more\.yaml:1: categories\[0\]\.id: id 1 stands in catalogue\.yaml:2 already$/,
    ],
    ['{ id: 2 }', /^more\.yaml:1: categories\[0\]: name is missing$/],
    [
      '{ id: 1, mandatory: true }',
      /^more\.yaml:1: categories\[0\]\.mandatory: must be said at catalogue\.yaml:2$/,
    ],
    ['{ id: 1, domains: [b..example] }', /^more\.yaml:1: categories\[0\]\.domains\[0\]: /],
  ])('refuses %s in a file that is included', async (group, message) => {
    const main = 'include: [more.yaml]\ncategories: [{ id: 1, name: a }]';
    const files = { 'catalogue.yaml': main, 'more.yaml': `categories: [${group}]` };
    await expect(read(files)).rejects.toThrow(message);
  });

  it('includes files of the folder only, and none from an included one', async () => {
    await expect(read({ 'catalogue.yaml': 'include: [../a.yaml]' })).rejects.toThrow(
      /include\[0\]: must be a path within the folder$/,
    );
    await expect(read({ 'catalogue.yaml': 'include: [absent.yaml]' })).rejects.toThrow(
      /absent\.yaml: cannot be read: ENOENT$/,
    );
    const nested = { 'catalogue.yaml': 'include: [a.yaml]', 'a.yaml': 'include: [b.yaml]' };
    await expect(read(nested)).rejects.toThrow(/^a\.yaml:1: include: unknown field/);
  });

  it('reads a zone, whose key is not in its name', async () => {
    const urls = ['rpz://feed.example/rpz.zone?key=a.b', 'rpz://[::1]:5353/rpz.zone.'];
    const source = `{ url: "${urls[0]}", mirrors: ["${urls[1]}"], format: rpz }`;
    const { categories } = await read({
      'catalogue.yaml': `categories: [{ id: 1, name: a, sources: [${source}] }]`,
    });
    expect(categories[0].sources[0]).toMatchObject({
      name: 'rpz://feed.example/rpz.zone',
      location: { url: urls[0] },
      mirrors: [{ url: urls[1] }],
    });
  });

  it.each([
    'a',
    'a/',
    'a/b..c?key=d',
    'a/b?key=',
    'a/b?key=c&d',
    'a/b?key=c..d',
    'a/b?key=c#d',
    'me:p@a/b?key=c',
  ])('refuses the zone rpz://%s', async (rest) => {
    const source = `{ url: "rpz://${rest}", format: rpz }`;
    await expect(
      read({ 'catalogue.yaml': `categories: [{ id: 1, name: a, sources: [${source}] }]` }),
    ).rejects.toThrow(
      /url: (?:must be like rpz:\/\/HOST\/ZONE\?key=NAME|".*" is not a domain name)$/,
    );
  });

  it('reads mirrors, and which list of an archive a source is', async () => {
    const source = (list: string): string =>
      `{ url: "https://a.example/d", mirrors: ["https://b.example/d?k=1"], format: dlc, list: ${list} }`;
    const text = `categories: [{ id: 1, name: a, sources: [${source('google')}, ${source('google@ads')}] }]`;
    const { categories } = await read({ 'catalogue.yaml': text });
    expect(categories[0].sources.map(({ name, mirrors, list }) => [name, mirrors, list])).toEqual([
      ['https://a.example/d#google', [{ url: 'https://b.example/d?k=1' }], 'google'],
      ['https://a.example/d#google@ads', [{ url: 'https://b.example/d?k=1' }], 'google@ads'],
    ]);
  });

  it('requests a URL once a day unless the definition says otherwise', async () => {
    const yaml =
      'categories: [{id: 1, name: a, sources: [{url: "https://a.example/", format: hosts}]}]';
    const { categories } = await read({ 'catalogue.yaml': yaml });
    expect(categories[0].sources[0].refreshMs).toBe(24 * 3_600_000);
  });

  it('reads the rewrites of a category', async () => {
    const text = `
categories:
  - id: 1
    name: Search
    rewrites:
      - { to: Safe.example., names: [www.search.example, WWW.other.example] }
`;
    const { categories } = await read({ 'catalogue.yaml': text });
    expect(categories[0].rewrites).toEqual([
      { to: 'safe.example', names: ['www.search.example', 'www.other.example'] },
    ]);
  });

  it('reads the group and the purpose of a category, and what no list may block', async () => {
    const text = `
categories:
  - { id: 1, name: a, group: Safety, purpose: security }
  - { id: 2, name: b, purpose: legal, mandatory: true, secret: true }
never_block: [Portal.Example., bücher.example]
`;
    const { categories, neverBlock } = await read({ 'catalogue.yaml': text });
    expect(categories).toMatchObject([
      { group: 'Safety', purpose: 'security', isGuarded: true, mandatory: false, secret: false },
      { group: null, purpose: 'legal', isGuarded: false, mandatory: true, secret: true },
    ]);
    expect(neverBlock).toEqual(['portal.example', 'xn--bcher-kva.example']);
  });

  it('takes any number of names that no list may block', async () => {
    const names = Array.from({ length: 150_000 }, (_, i) => `n${i}.example`);
    const { neverBlock } = await read({ 'catalogue.yaml': `never_block: [${names.join()}]` });
    expect(neverBlock).toEqual(names);
  });

  it('takes a category that says so for a sample, until a file adds a list to it', async () => {
    const text = 'categories: [{ id: 1, name: a, sample: true, domains: [a.example] }]\n';
    const { categories } = await read({ 'catalogue.yaml': text });
    expect(categories[0].isSample).toBe(true);
    const list = 'categories: [{ id: 1, sources: [{ file: a.txt, format: domains }] }]';
    const listed = await read({
      'catalogue.yaml': `include: [list.yaml]\n${text}`,
      'list.yaml': list,
    });
    expect(listed.categories[0].isSample).toBe(false);
  });

  it.each([
    ['https://a.example/', ''],
    ['http://127.0.0.1:8000/', ''],
    ['http://localhost/', ''],
    ['http://[::1]/', ''],
    ['http://a.example/', `, sha256: ${SHA256}`],
  ])('takes the URL %s%s', async (url, pin) => {
    const text = `categories: [{id: 1, name: a, sources: [{url: "${url}", format: hosts${pin}}]}]`;
    const { categories } = await read({ 'catalogue.yaml': text });
    expect(categories[0].sources[0].sha256).toBe(pin === '' ? null : SHA256);
  });

  it.each([
    [
      'categories: [{id: 1, name: a, sources: [{url: "http://a.example", format: domains}]}]',
      /sources\[0\]\.url: must be an https URL, or have the sha256 of its list: others could change it$/,
    ],
    [
      'categories: [{id: 1, name: a, sources: [{url: "http://127.0.0.1.a.example", format: domains}]}]',
      /sources\[0\]\.url: must be an https URL/,
    ],
    [
      'categories: [{id: 1, name: a, sources: [{url: "http://a.example", format: domains, sha256: ABCD}]}]',
      /sources\[0\]\.sha256: must be a SHA-256 of 64 lower-case hexadecimal digits$/,
    ],
    [
      'categories: [{id: 1, name: a, sources: [{file: a, format: domains, sha256: ab}]}]',
      /sources\[0\]\.sha256: is for a url only$/,
    ],
    [
      'categories: [{id: 1, name: a, mandatory: yes}]',
      /categories\[0\]\.mandatory: must be true or false$/,
    ],
    [
      'categories: [{id: 1, name: a, secret: true}]',
      /categories\[0\]\.secret: must be with mandatory: true$/,
    ],
    [
      'categories: [{id: 1, name: a, mandatory: true, secret: true, domains: [a..example]}]',
      /categories\[0\]\.domains\[0\]: a domain has an empty label$/,
    ],
    [
      'categories: [{id: 1, name: a, mandatory: true, secret: true, rewrites: [{to: b.example, names: [c.example]}]}]',
      /categories\[0\]\.rewrites: would tell names of a secret category$/,
    ],
    [
      'categories: [{id: 1, name: a, purpose: family}]',
      /categories\[0\]\.purpose: must be one of security, legal, parental, productivity, other$/,
    ],
    [
      'applications: [{id: 1, name: a, purpose: other}]',
      /applications\[0\]\.purpose: unknown field/,
    ],
    ['never_block: portal.example', /^catalogue\.yaml:1: never_block: must be a list$/],
    [
      'never_block: ["*.a.example"]',
      /^catalogue\.yaml:1: never_block\[0\]: "\*\.a\.example" may hold/,
    ],
    ['never_block: [a.example, co.uk]', /never_block\[1\]: "co\.uk" is a public suffix$/],
    [
      'categories: [{id: 1, name: a, rewrites: [{to: b.example, names: [B.example]}]}]',
      /^catalogue\.yaml:1: categories\[0\]\.rewrites\[0\]\.names\[0\]: "b\.example" is rewritten to itself$/,
    ],
    [
      'categories: [{id: 1, name: a, rewrites: [{to: b.example}]}]',
      /rewrites\[0\]: names is missing$/,
    ],
    ['categories: [{id: 1, name: a, rewrites: [{names: []}]}]', /rewrites\[0\]: to is missing$/],
    [
      'applications: [{id: 1, name: a, rewrites: []}]',
      /applications\[0\]\.rewrites: unknown field/,
    ],
    ['categories: [', /^catalogue\.yaml:1: /],
    ['categories: 7', /^catalogue\.yaml:1: categories: must be a list$/],
    ['- 1', /^catalogue\.yaml:1: must be a map of categories, applications, include, never_block$/],
    ['', /^catalogue\.yaml:1: must be a map/],
    [
      'category: []',
      /^catalogue\.yaml:1: category: unknown field, known are categories, applications, include, never_block$/,
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
      /sources\[0\]: must have either file or url$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, url: "https://a.example", format: domains}]}',
      /sources\[0\]: must have either file or url$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: ../a, format: domains}]}',
      /sources\[0\]\.file: must be a path within the folder$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: /a, format: domains}]}',
      /sources\[0\]\.file: must be a path within the folder$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains, refresh: 1h}]}',
      /sources\[0\]\.refresh: is for a url only/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains, mirrors: ["https://a.example"]}]}',
      /sources\[0\]\.mirrors: is for a url only$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "https://a.example", mirrors: ["http://b.example"], format: rpz}]}',
      /sources\[0\]\.mirrors\[0\]: must be an https URL, /,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains, list: b}]}',
      /sources\[0\]\.list: is for format dlc only$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: dlc}]}',
      /sources\[0\]: list is missing: which list of the archive$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: dlc, list: a/b}]}',
      /sources\[0\]\.list: must be the name of a list, such as google or google@ads$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "rpz://a.example/zone.example", format: rpz}]}',
      /sources\[0\]\.url: must have the key that signs the transfer, \?key=NAME: others could change the zone$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "rpz://a.example/zone.example?key=b", format: domains}]}',
      /sources\[0\]\.url: is for format rpz only$/,
    ],
    [
      `categories:\n  - {id: 1, name: a, sources: [{url: "rpz://a.example/b?key=c", format: rpz, sha256: ${'a'.repeat(64)}}]}`,
      /sources\[0\]\.sha256: is for http and https URLs only$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "ftp://a.example", format: domains}]}',
      /sources\[0\]\.url: must be an http, https or rpz URL$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: a.example, format: domains}]}',
      /sources\[0\]\.url: must be an http, https or rpz URL$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "https://a.example", format: domains, refresh: 1w}]}',
      /sources\[0\]\.refresh: must be a number with s, m, h or d, from 10s to 30d$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "https://a.example", format: domains, refresh: 9s}]}',
      /sources\[0\]\.refresh: must be a number with s, m, h or d, from 10s to 30d$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "https://a.example", format: domains, refresh: 31d}]}',
      /sources\[0\]\.refresh: must be a number with s, m, h or d, from 10s to 30d$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "https://a.example", format: domains, refresh: -1h}]}',
      /sources\[0\]\.refresh: must be a number with s, m, h or d, from 10s to 30d$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{url: "https://a.example", format: domains, refresh: 24h30m}]}',
      /sources\[0\]\.refresh: must be a number with s, m, h or d, from 10s to 30d$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains, commercial_use: 1}]}',
      /sources\[0\]\.commercial_use: must be one of true, false, unknown$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains, size: 3 names}]}',
      /sources\[0\]\.size: must be unknown, or such as "188764 names on 2026-02-07"$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains, licence: [MIT]}]}',
      /sources\[0\]\.licence: must be a text of 1 to 200 characters$/,
    ],
    [
      'categories:\n  - {id: 1, name: a, sources: [{file: a, format: domains}, {file: a, format: hosts}]}',
      /sources\[1\]: a has another format, .* or size at catalogue\.yaml:2: categories\[0\]\.sources\[0\]$/,
    ],
    ['a: 1\na: 2', /^catalogue\.yaml:2: /],
  ])('refuses %j', async (text, message) => {
    const failure = await read({ 'catalogue.yaml': text }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CatalogueError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
  });

  it('names every fault in its own line', async () => {
    const text = `
categories:
  - { id: 1, name: a, domains: [a.example, 10.0.0.1, '*.b.example'] }
  - { id: 1, name: b }
applications:
  - { id: 5, name: c, sources: [{ file: l, format: zone }] }
  - { id: 5, name: d }
`;
    const failure = await read({ 'catalogue.yaml': text }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DefinitionFaults);
    const { faults, message } = failure as DefinitionFaults;
    expect(faults).toEqual([
      expect.stringMatching(
        /^catalogue\.yaml:3: categories\[0\]\.domains\[1\]: "10\.0\.0\.1" is an IP/,
      ),
      expect.stringMatching(/^catalogue\.yaml:3: categories\[0\]\.domains\[2\]: /),
      'catalogue.yaml:4: categories[1].id: id 1 stands in line 3 already',
      expect.stringMatching(/^catalogue\.yaml:6: applications\[0\]\.sources\[0\]\.format: must be/),
      'catalogue.yaml:7: applications[1].id: id 5 stands in line 6 already',
    ]);
    expect(message).toBe(`${faults[0]} (and 4 more)`);
  });

  it('refuses a folder without a definition', async () => {
    await expect(readDefinition(folder)).rejects.toThrow(/catalogue\.yaml: cannot be read: ENOENT/);
  });

  it('lets a category and an application have the same id', async () => {
    const text = 'categories: [{id: 1, name: a}]\napplications: [{id: 1, name: a}]';
    await expect(read({ 'catalogue.yaml': text })).resolves.toBeDefined();
  });
});
