import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { formatName } from '@weir/dns-wire';
import { wireName } from '@weir/dns-wire/testing';
import { LocalRecords } from '@weir/policy/answers';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { recordsFile } from '../testing/records-file.js';
import { readRecords } from './read-records.js';

const KEY = parseHashKey(HASH_KEY_HEX);
const hashes = new SuffixHashes(KEY);

function load(...lines: string[]) {
  const records = LocalRecords.of(readRecords(recordsFile(...lines)), KEY);
  const find = (name: string) => {
    hashes.compute(wireName(name), 0);
    return records.find(hashes);
  };
  /** The texts of the TXT records; null: there are no records of the name. */
  const textOf = (name: string) =>
    find(name)?.sets.map(({ rdatas }) =>
      rdatas.map((rdata) => Buffer.from(rdata.slice(1)).toString()).join(),
    ) ?? null;
  return { records, find, textOf };
}

describe('LocalRecords', () => {
  it('finds the records of a name, whatever its case, and nothing above and below it', () => {
    const { textOf, records } = load(
      'A.Portal.example TXT a',
      'a.portal.example TXT b',
      'a.PORTAL.example TXT a',
    );
    expect(textOf('a.portal.EXAMPLE')).toEqual(['a,b']);
    for (const name of [
      '.',
      'example',
      'portal.example',
      'x.a.portal.example',
      'b.portal.example',
    ]) {
      expect(textOf(name)).toBeNull();
    }
    hashes.compute(wireName('portal.example'), 0);
    expect(records.isAbove(hashes)).toBe(true);
    hashes.compute(wireName('b.portal.example'), 0);
    expect(records.isAbove(hashes)).toBe(false);
  });

  it('has no records without a file, or with an empty one', () => {
    hashes.compute(wireName('example'), 0);
    expect(LocalRecords.none.find(hashes)).toBeNull();
    expect(load('# nothing').textOf('example')).toBeNull();
  });

  it('synthesises records from the wildcard below the closest name (RFC 4592)', () => {
    const { textOf } = load(
      ...[
        '*.example TXT star',
        'sub.example TXT sub',
        'a.ent.example TXT ent',
        '*.wild.example TXT wild',
      ],
    );
    expect(textOf('x.example')).toEqual(['star']);
    expect(textOf('y.x.example')).toEqual(['star']);
    expect(textOf('*.example')).toEqual(['star']);
    expect(textOf('sub.example')).toEqual(['sub']);
    expect(textOf('x.wild.example')).toEqual(['wild']);
    // Names below these exist, or are below a name that exists.
    for (const name of [
      'x.sub.example',
      'ent.example',
      'b.ent.example',
      'wild.example',
      'x.*.example',
    ]) {
      expect(textOf(name)).toBeNull();
    }
  });

  it('follows CNAME records to a name of the file, or out of it', () => {
    const { find } = load(
      'a.example 10 CNAME b.example.',
      'b.example 20 CNAME x.wild.example.',
      '*.wild.example 30 TXT end',
      'out.example CNAME www.other.',
    );
    const { links, target, end } = find('a.example')!.chain!;
    expect(
      links.map(({ owner, ttlSeconds }) => [owner && formatName(owner, 0), ttlSeconds]),
    ).toEqual([
      [null, 10],
      ['b.example', 20],
    ]);
    expect(formatName(target, 0)).toBe('x.wild.example');
    expect(end).toBe(find('x.wild.example'));
    expect(find('out.example')!.chain).toMatchObject({
      target: wireName('www.other'),
      end: null,
    });
    expect(end?.chain).toBeNull();
  });

  it('holds the lowest TTL for all records of a type, and for what the name has not', () => {
    const { find } = load('x 60 TXT a', 'x 30 TXT b', 'x 90 A 192.0.2.1', 'y 90000 TXT a');
    expect(find('x')).toMatchObject({ negativeTtlSeconds: 30 });
    expect(find('x')?.sets.map(({ ttlSeconds }) => ttlSeconds)).toEqual([30, 90]);
    expect(find('y')).toMatchObject({ negativeTtlSeconds: 10_800 });
  });

  it.each([
    [['x CNAME a', 'x TXT b'], 'line 1: a name with a CNAME record'],
    [['x TXT b', 'X. CNAME a'], 'line 2: a name with a CNAME record'],
    [['x CNAME a', 'x CNAME b'], 'line 2: a name cannot have two CNAME records'],
    [['x TXT a', 'a CNAME b', 'b CNAME a'], 'line 2: more than 8 CNAME records'],
    [['*.w CNAME x.w'], 'line 1: more than 8 CNAME records'],
    [Array.from({ length: 230 }, (_, i) => `x TXT ${i}`), 'line 1: the records of one type'],
  ])('refuses the whole file: %#', (lines, problem) => {
    expect(() => load(...lines)).toThrow(problem);
  });
});
