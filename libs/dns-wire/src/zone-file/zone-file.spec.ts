import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatName } from '../names.js';
import { hexOf, wireName } from '../testing/message.js';
import { parseZoneFile } from './zone-file.js';
import { ZoneFileError } from './zone-file-error.js';

/** The records of a file: owner, type, TTL and rdata in hex. */
const recordsOf = (text: string) =>
  parseZoneFile(text).map(({ owner, type, ttlSeconds, rdata }) => [
    formatName(owner, 0),
    type,
    ttlSeconds,
    hexOf(rdata),
  ]);
const rdataOf = (text: string): string => recordsOf(`x. ${text}`)[0][3] as string;
const ascii = (text: string): string => hexOf(Buffer.from(text));
const name = (text: string): string => hexOf(wireName(text));

describe('parseZoneFile', () => {
  it('reads origin, TTL, comments, parentheses, blanks and relative names', () => {
    const text = [
      '; the portal',
      '$TTL 1h30m',
      '$ORIGIN isp.example.',
      'portal  IN  A  192.0.2.1 ; first',
      '\t60 IN A 192.0.2.2',
      '        AAAA (',
      '  2001:db8:: ; in parentheses, a comment and',
      '  ) ',
      '',
      '@ IN 30 MX 10 portal',
      '*.wild CNAME other.example.',
      '$ORIGIN sub',
      'a in txt "a;b" c\r',
      '$TTL 5',
      '. TXT x',
    ].join('\n');
    expect(recordsOf(text)).toEqual([
      ['portal.isp.example', 1, 5400, 'c0000201'],
      ['portal.isp.example', 1, 60, 'c0000202'],
      ['portal.isp.example', 28, 5400, '20010db8000000000000000000000000'],
      ['isp.example', 15, 30, `000a${name('portal.isp.example')}`],
      ['\\042.wild.isp.example', 5, 5400, name('other.example')],
      ['a.sub.isp.example', 16, 5400, `03${ascii('a;b')}01${ascii('c')}`],
      ['.', 16, 5, '0178'],
    ]);
  });

  it('needs neither $ORIGIN nor $TTL: names are relative to the root, TTLs are those of the record before', () => {
    expect(recordsOf('a.example A 192.0.2.1\nb 60 A 192.0.2.1\nc A 192.0.2.1')).toEqual([
      ['a.example', 1, 3600, 'c0000201'],
      ['b', 1, 60, 'c0000201'],
      ['c', 1, 60, 'c0000201'],
    ]);
    expect(recordsOf('')).toEqual([]);
    expect(recordsOf('\uFEFF; nothing\n\n')).toEqual([]);
  });

  it('knows the line of each record', () => {
    const lines = parseZoneFile('\n\nx A 192.0.2.1\n  TXT (\na\n)\n  A 192.0.2.2');
    expect(lines.map(({ line }) => line)).toEqual([3, 4, 7]);
  });

  it.each([
    ['A 192.0.2.1', 'c0000201'],
    ['AAAA ::', '00'.repeat(16)],
    ['AAAA 1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['AAAA 1:2:3:4:5:6::8', '00010002000300040005000600000008'],
    ['AAAA ::ffff:192.0.2.1', `${'00'.repeat(10)}ffffc0000201`],
    ['NS ns', name('ns')],
    ['CNAME \\046\\.a\\\\.b.', hexOf(Uint8Array.of(4, 0x2e, 0x2e, 0x61, 0x5c, 1, 0x62, 0))],
    ['PTR .', '00'],
    ['MX 0 .', '000000'],
    ['SRV 1 2 65535 host', `00010002ffff${name('host')}`],
    ['TXT "" a\\ b "q\\"uote" \\200', '000361206206712275' + '6f746501c8'],
    ['TXT "é"', '02c3a9'],
    [
      'SOA ns host 4294967295 1h 2 3 4',
      `${name('ns')}${name('host')}ffffffff00000e10000000020000000300000004`,
    ],
    [
      'NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .',
      `0064000a017507${ascii('E2U+sip')}1b${ascii('!^.*$!sip:info@example.com!')}00`,
    ],
    ['CAA 128 issue "ca.example; x=y"', `8005${ascii('issue')}${ascii('ca.example; x=y')}`],
    ['TYPE65280 \\# 4 0102 0a0B', '01020a0b'],
    ['TYPE65280 \\# 0', ''],
    // RFC 9460 appendix D
    ['HTTPS 0 foo.example.com.', `0000${name('foo.example.com')}`],
    ['SVCB 1 .', '000100'],
    ['SVCB 16 foo.example.com. port=53', `0010${name('foo.example.com')}000300020035`],
    ['SVCB 1 foo. key667=hello', `0001${name('foo')}029b0005${ascii('hello')}`],
    ['SVCB 1 foo. key667="hello\\210qoo"', `0001${name('foo')}029b000968656c6c6fd2716f6f`],
    [
      'SVCB 1 foo. ipv6hint="2001:db8::1,2001:db8::53:1"',
      `0001${name('foo')}0006002020010db800000000000000000000000120010db8000000000000000000530001`,
    ],
    [
      'SVCB 16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1',
      `0010${name('foo.example.org')}0000000400010004000100090268320568332d313900040004c0000201`,
    ],
    [
      'SVCB 16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
      `0010${name('foo.example.org')}0001000c08665c6f6f2c626172026832`,
    ],
    ['HTTPS 1 . alpn=h3 no-default-alpn ech=AAEC', '000100000100030268330002000000050003000102'],
  ])('reads %s', (record, rdata) => {
    expect(rdataOf(record)).toBe(rdata);
  });

  it.each([
    ['x A 192.0.2.256', 'not an IPv4 address'],
    ['x A 192.0.2.1 192.0.2.2', 'more than the record needs'],
    ['x A', 'an IPv4 address is missing'],
    ['x A 192.0.2.01', 'not an IPv4 address'],
    ['x A 192.0.2', 'not an IPv4 address'],
    ['x A 192.0.2.1.', 'not an IPv4 address'],
    ...[
      'fe80::1%eth0',
      '1::2::3',
      ':::',
      ':',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '::12345',
      '192.0.2.1::',
      'g::',
    ].map((address) => [`x AAAA ${address}`, 'not an IPv6 address']),
    ['x AAAA 1:2:3:4:5:6:7::8', 'not an IPv6 address'],
    ['x', 'the type is missing'],
    ['x 60 IN', 'the type is missing'],
    ['x CH TXT a', 'the class is not IN'],
    ['x WKS a', 'type WKS is not known here'],
    ['x TYPE41 \\# 0', 'not a type of records'],
    ['x TYPE255 \\# 0', 'not a type of records'],
    ['x TYPE5 \\# 1 00', 'write TYPE5 as CNAME'],
    ['x TYPE99999 \\# 0', 'not a type of records'],
    ['x TYPE500 \\# 3 0102', 'as many bytes in hex'],
    ['x TYPE500 0102', 'as many bytes in hex'],
    ['x TYPE500 \\# 1 0g', 'as many bytes in hex'],
    ['x MX 65536 a', 'not a number of 16 bits'],
    ['x MX -1 a', 'not a number of 16 bits'],
    ['x 99999999999 A 192.0.2.1', 'longer than'],
    ['x 1y A 192.0.2.1', 'not a time'],
    ['x TXT "a', 'not complete'],
    ['x TXT a\\', 'not complete'],
    ['x TXT \\256', 'not a byte'],
    ['x TXT \\1', 'less than three digits'],
    [`x TXT ${'a '.repeat(70_000)}`, 'the record is too large'],
    [`x TXT ${'a'.repeat(256)}`, 'a string is longer than 255 bytes'],
    [`${'a'.repeat(64)} A 192.0.2.1`, 'a label is longer than 63 bytes'],
    [`${'a.'.repeat(128)} A 192.0.2.1`, 'a name is longer than 255 bytes'],
    ['a..b A 192.0.2.1', 'an empty label'],
    ['"" A 192.0.2.1', 'a name is empty'],
    ['é A 192.0.2.1', 'other characters than ASCII'],
    ['x TXT (', 'a parenthesis is not closed'],
    ['x TXT )', 'a parenthesis is closed that is not open'],
    ['  A 192.0.2.1', 'the first record has no owner'],
    ['$INCLUDE other', '$INCLUDE is not supported'],
    ['$TTL', '$TTL needs one value'],
    ['$ORIGIN a b', '$ORIGIN needs one value'],
    ['x CAA 0 is-sue a', 'not a CAA tag'],
    ['x HTTPS 1 . alpn', 'alpn needs a value'],
    ['x HTTPS 1 . alpn=h2 no-default-alpn=1', 'no-default-alpn has no value'],
    ['x HTTPS 1 . no-default-alpn', 'no-default-alpn needs alpn'],
    ['x HTTPS 1 . alpn=h2 alpn=h3', 'alpn is given twice'],
    ['x HTTPS 1 . alpn=,h2', 'no usable length'],
    ['x HTTPS 1 . mandatory=port', 'one that is not given'],
    ['x HTTPS 1 . mandatory=port,port port=1', 'a key twice'],
    ['x HTTPS 1 . colour=blue', 'not a SvcParamKey'],
    ['x HTTPS 1 . key65535=x', 'not a SvcParamKey'],
    ['x HTTPS 1 . ech=%', 'not base64'],
  ])('refuses %s, and names the line', (line, problem) => {
    const parse = () => parseZoneFile(`; comment\n$TTL 60\n${line}\n`);
    expect(parse).toThrow(ZoneFileError);
    expect(parse).toThrow(/^line 3: /);
    expect(parse).toThrow(problem);
  });

  it('refuses more records than it may have', () => {
    const text = 'x A 192.0.2.1\nx A 192.0.2.2\nx A 192.0.2.3\n';
    expect(parseZoneFile(text, 3)).toHaveLength(3);
    expect(() => parseZoneFile(text, 2)).toThrow('line 3: there are more than 2 records');
  });

  it('reads back any owner, string and rdata, however they are written', () => {
    const label = fc.uint8Array({ minLength: 1, maxLength: 12 });
    const escape = (bytes: Uint8Array, plain: boolean): string =>
      [...bytes]
        .map((byte) => {
          const character = String.fromCharCode(byte);
          if (plain && /[a-z\d]/i.test(character)) return character;
          if (plain && /[!-/:-~]/.test(character)) return `\\${character}`;
          return `\\${String(byte).padStart(3, '0')}`;
        })
        .join('');
    const wire = (labels: readonly Uint8Array[]): string =>
      hexOf(Buffer.concat([...labels.map((l) => Buffer.of(l.length, ...l)), Buffer.of(0)]));
    const blank = fc.constantFrom(' ', '\t', '  ', ' (\n ', ' ( ; c\n');
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 1, maxLength: 6 }),
        fc.array(fc.uint8Array({ maxLength: 255 }), { minLength: 1, maxLength: 4 }),
        fc.nat(2 ** 31 - 1),
        fc.boolean(),
        fc.boolean(),
        blank,
        (labels, strings, ttl, plain, isQuoted, space) => {
          const owner = labels.map((l) => escape(l, plain)).join('.');
          const texts = strings.map((s) => {
            const text = escape(s, plain);
            return isQuoted || text === '' ? `"${text}"` : text;
          });
          const end = space.includes('(') ? ' )' : '';
          const [record] = parseZoneFile(
            `${owner}.${space}${ttl} IN TXT ${texts.join(' ')}${end}\n`,
          );
          expect(hexOf(record.owner)).toBe(wire(labels));
          expect(record.ttlSeconds).toBe(ttl);
          const expected = Buffer.concat(strings.map((s) => Buffer.of(s.length, ...s)));
          expect(hexOf(record.rdata)).toBe(hexOf(expected));
        },
      ),
      { endOnFailure: true },
    );
  });

  it('answers any text with records or with a ZoneFileError', () => {
    const word = fc.constantFrom(
      ...['$ORIGIN', '$TTL', '@', '.', '*', 'a.b', 'IN', '60', '1h', 'A', 'AAAA', 'TXT', 'CNAME'],
      ...['HTTPS', 'SOA', 'CAA', 'TYPE9', '\\#', '192.0.2.1', '::1', '"a b"', 'alpn="h2"', '1'],
      ...[
        '(',
        ')',
        ';',
        '"',
        '\\',
        '\\0',
        '\\300',
        '\n',
        '\n ',
        '\t',
        '=',
        ',',
        'é',
        '\0',
        '\u2028',
      ],
    );
    const text = fc.oneof(
      fc
        .array(fc.oneof(word, fc.string({ maxLength: 3 })), { maxLength: 40 })
        .map((a) => a.join(' ')),
      fc.array(word, { maxLength: 40 }).map((a) => a.join('')),
      fc.string({ unit: 'binary', maxLength: 200 }),
    );
    fc.assert(
      fc.property(text, (anything) => {
        try {
          for (const { owner, rdata, ttlSeconds } of parseZoneFile(anything)) {
            expect(owner.length).toBeLessThanOrEqual(255);
            expect(rdata.length).toBeLessThanOrEqual(65_535);
            expect(ttlSeconds).toBeLessThan(2 ** 31);
          }
        } catch (error) {
          if (!(error instanceof ZoneFileError)) throw error;
        }
      }),
      { numRuns: 5_000, endOnFailure: true },
    );
  });
});
