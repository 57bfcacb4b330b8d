import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NameList } from '../../names/name-list.js';
import { readNames } from '../read-names.js';
import { chunksOf, expectNames, KEY, read, tarArchive, tarEntry } from '../testing/lists.js';
import { dlcNames } from '../../default-catalogue/testing/build-catalogue.js';
import { readDlcLists, resolveDlc } from './dlc.js';

const lists = new Map([
  ['google', 'google.example # search\ninclude:youtube\ninclude:ads @ads\n\n'],
  ['youtube', 'full:youtube.example\ndomain:video.example @cn\nregexp:^v[0-9]+\\.example$'],
  [
    'ads',
    'INCLUDE:youtube @-cn\nads.example @ads\ntracking.example @ads @cn\nkeyword:doubleclick @ads',
  ],
  ['circle', 'include:round'],
  ['round', 'include:circle'],
  ['broken', 'include:absent'],
]);

describe('resolveDlc', () => {
  it('has the rules of a list and of those that it includes, by their attributes', () => {
    expect(resolveDlc(lists, 'google').split('\n')).toEqual([
      'google.example',
      'full:youtube.example',
      'domain:video.example @cn',
      'regexp:^v[0-9]+\\.example$',
      'ads.example @ads',
      'tracking.example @ads @cn',
      'keyword:doubleclick @ads',
    ]);
    expect(resolveDlc(lists, 'google@ads@-cn').split('\n')).toEqual([
      'ads.example @ads',
      'keyword:doubleclick @ads',
    ]);
    expect(resolveDlc(lists, 'ads@-ads').split('\n')).toEqual([
      'full:youtube.example',
      'regexp:^v[0-9]+\\.example$',
    ]);
  });

  it('knows affiliations, and attributes in any case and order', () => {
    const affiliated = new Map([
      ['g', 'a.example @ads &other\nb.example &other @ads\nc.example @ADS\nd.example'],
      ['other', 'e.example\ninclude:G @-Ads'],
    ]);
    const names = (selector: string) =>
      resolveDlc(affiliated, selector).replaceAll(/ .*/g, '').split('\n');
    expect(names('g@ads')).toEqual(['a.example', 'b.example', 'c.example']);
    expect(names('g@-ads')).toEqual(['d.example']);
    expect(names('other')).toEqual(['e.example', 'd.example', 'a.example', 'b.example']);
  });

  it.each([
    ['absent', /^has no list absent$/],
    ['broken', /^has no list absent, which broken includes$/],
    ['circle', /^has a list circle that includes itself$/],
  ])('refuses the list %s', (list, message) => {
    expect(() => resolveDlc(lists, list)).toThrow(message);
  });

  it('reads a list once, however many lists include it', () => {
    const doubling = Array.from({ length: 60 }, (_, i): [string, string] => [
      `list-${i}`,
      `${i}.example\ninclude:list-${i + 1}\ninclude:list-${i + 1}`,
    ]);
    const deep = new Map([...doubling, ['list-60', 'last.example']]);
    expect(resolveDlc(deep, 'list-0').split('\n')).toHaveLength(61);
  });

  it('has names without kinds, attributes and patterns', () => {
    expect(dlcNames(lists, 'google')).toEqual([
      ...['google.example', 'youtube.example', 'video.example', 'ads.example', 'tracking.example'],
    ]);
  });
});

describe('format dlc', () => {
  const archive = tarArchive(
    tarEntry('dlc/data/', '', '5'),
    ...[...lists].map(([name, text]) => tarEntry(`dlc/data/${name}`, text)),
    tarEntry('dlc/README', 'no list'),
  );

  it('reads one list of an archive, packed or not', async () => {
    for (const bytes of [archive, gzipSync(archive)]) {
      const options = { list: 'google' };
      const { names, report } = await readNames(chunksOf(bytes, 1000), 'dlc', KEY, options);
      expect(names.words).toEqual(NameList.of(dlcNames(lists, 'google'), KEY).words);
      expect(report).toMatchObject({ domains: 5, skipped: 2, invalidLines: 0 });
    }
    const texts = await readDlcLists(chunksOf(archive, 1000));
    expect([...texts]).toEqual([...lists].map(([name, text]) => [name, `${text}\n`]));
  });

  it('finds a list of an archive in any case', async () => {
    const mixed = tarArchive(
      tarEntry('dlc/data/Mine', 'include:Other\n'),
      tarEntry('dlc/data/other', 'a.example\n'),
    );
    const { names } = await readNames(chunksOf(mixed), 'dlc', KEY, { list: 'Mine' });
    expect(names.words).toEqual(NameList.of(['a.example'], KEY).words);
  });

  it('refuses an archive without the list', async () => {
    const options = { list: 'youtub' };
    await expect(readNames(chunksOf(archive), 'dlc', KEY, options)).rejects.toThrow(
      /^has no list youtub$/,
    );
  });

  it('refuses attributes of a single list', async () => {
    const text = Buffer.from('a.example\nb.example @ads\n');
    const options = { list: 'google@ads' };
    await expect(readNames(chunksOf(text), 'dlc', KEY, options)).rejects.toThrow(
      'is one list: name the whole folder or archive for its attributes',
    );
  });

  it('closes a list that it refuses, such as a file that would stay open', async () => {
    let isClosed = false;
    const list = async function* () {
      try {
        yield* chunksOf(Buffer.from('google.com\n'.repeat(100)), 1000);
      } finally {
        isClosed = true;
      }
    };
    await expect(readNames(list(), 'dlc', KEY, { list: 'google@ads' })).rejects.toThrow();
    expect(isClosed).toBe(true);
  });

  it('reads the text of one list, and reports what it cannot read', async () => {
    const text = 'a.example @ads\nfull:b.example#\n  DOMAIN:c.example\nkeyword:d\n# e.example\n';
    await expectNames(text, 'dlc', ['a.example', 'b.example', 'c.example']);
    const { report } = await read('include:google\nip:192.0.2.1\na..example', 'dlc');
    expect(report.examples).toEqual([
      { line: 1, problem: 'includes a list: name the whole folder or archive' },
      { line: 2, problem: 'is a rule of an unknown kind' },
      { line: 3, problem: 'has an empty label' },
    ]);
  });
});
