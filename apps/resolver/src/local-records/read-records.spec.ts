import { hexOf, wireName } from '@weir/dns-wire/testing';
import { MAX_RECORDS } from '@weir/policy/answers';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordsFile } from '../testing/records-file.js';
import { readRecords } from './read-records.js';

const rdataOf = (yaml: string) => readRecords(yaml).map(({ rdata }) => hexOf(rdata));

describe('readRecords', () => {
  it('reads a list of records', () => {
    const records = readRecords(`# the portal
- name: Portal.isp.example.
  type: A
  data: 192.0.2.10
  ttl: 600
- { name: '*.garden.example', type: AAAA, data: '2001:db8::10' }
- name: bücher.example
  type: CNAME
  data: portal.isp.example
`);
    const portal = wireName('portal.isp.example');
    expect(records).toEqual([
      { line: 2, owner: portal, type: 1, ttlSeconds: 600, rdata: Uint8Array.of(192, 0, 2, 10) },
      {
        line: 6,
        owner: wireName('*.garden.example'),
        type: 28,
        ttlSeconds: 3600,
        rdata: Uint8Array.from(Buffer.from('20010db8000000000000000000000010', 'hex')),
      },
      {
        line: 7,
        owner: wireName('xn--bcher-kva.example'),
        type: 5,
        ttlSeconds: 3600,
        rdata: portal,
      },
    ]);
  });

  it('reads the example of the documents', () => {
    const page = readFileSync(`${import.meta.dirname}/../../../../docs/local-records.md`, 'utf8');
    const records = readRecords(/```yaml\n([^]*?)```/.exec(page)![1]);
    expect(records.map(({ type }) => type)).toEqual([1, 28, 1, 12, 5, 16]);
  });

  it.each(['', '# nothing\n', '[]'])('reads no records: %j', (text) => {
    expect(readRecords(text)).toEqual([]);
  });

  it('writes texts as character strings of at most 255 bytes', () => {
    expect(rdataOf(recordsFile('x TXT a ü'))).toEqual(['046120c3bc']);
    const [long] = rdataOf(recordsFile(`x TXT ${'a'.repeat(256)}`));
    expect(long).toBe(`ff${'61'.repeat(255)}0161`);
    expect(rdataOf('[{name: x, type: TXT, data: ""}]')).toEqual(['00']);
  });

  it('reads names of reverse zones, and addresses that are reserved', () => {
    const [ptr] = readRecords(recordsFile('10.2.0.192.in-addr.arpa PTR portal.isp.example'));
    expect(ptr).toMatchObject({ type: 12, rdata: wireName('portal.isp.example') });
    expect(rdataOf(recordsFile('x AAAA ::'))).toEqual(['0'.repeat(32)]);
  });

  const record = (fields: object) => `- ${JSON.stringify({ name: 'x', type: 'A', ...fields })}`;
  it.each([
    ['name: x', 'line 1: the file must be a list of records'],
    ['- x', 'line 1: a record must have name, type and data'],
    ['\n- [', 'line 2: '],
    ['- {name: x, name: y}', 'line 1: Map keys must be unique'],
    ['- name: x\n  typ: A', 'line 2: a record may have only name, type, data, ttl'],
    ['- name: x\n  data: y', 'line 1: type is missing'],
    ['- name: *.x\n  type: A\n  data: 192.0.2.1', 'line 1: name must be a text in quotes'],
    ['- name: x\n  type: TXT\n  data: 1', 'line 3: data must be a text in quotes'],
    ['- name: x\n  type: MX\n  data: y', 'line 2: type must be A, AAAA, CNAME, PTR, TXT'],
    [record({ name: '.' }), 'line 1: name '],
    [record({ name: '*.' }), 'line 1: name '],
    [record({ name: '*' }), 'line 1: name '],
    [record({ name: `*.${`${'a'.repeat(49)}.`.repeat(5)}abc` }), 'line 1: name is too long'],
    [record({ data: '192.0.2.256' }), 'line 1: data must be an IPv4 address'],
    [record({ data: '2001:db8::1' }), 'line 1: data must be an IPv4 address'],
    [record({ type: 'AAAA', data: '192.0.2.1' }), 'line 1: data must be an IPv6 address'],
    [record({ type: 'AAAA', data: 'fe80::1%lo' }), 'line 1: data must be an IPv6 address'],
    [record({ type: 'CNAME', data: 'not a name' }), 'line 1: data may hold letters'],
    [record({ data: '192.0.2.1', ttl: -1 }), 'line 1: ttl must be a number of seconds'],
    [record({ data: '192.0.2.1', ttl: 2 ** 31 }), 'line 1: ttl must be a number of seconds'],
    [record({ data: '192.0.2.1', ttl: '1h' }), 'line 1: ttl must be a number of seconds'],
    [
      recordsFile(...Array.from({ length: MAX_RECORDS + 1 }, (_, i) => `n${i} TXT a`)),
      'line 1001: more than 1000 records',
    ],
  ])('says in which line a fault is: %#', (text, problem) => {
    expect(() => readRecords(text)).toThrow(problem);
  });
});
