import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import {
  address,
  addressList,
  boolean,
  byteSize,
  choice,
  cidrList,
  upstreamList,
  hexKey,
  hexKeyList,
  decimal,
  integer,
  json,
  listenAddressList,
  port,
  secret,
  secretList,
  text,
  timeZone,
  url,
  type Variable,
} from './index.js';

const PIN = 'nw8C+VVt9bWlfmVFCH5SHZzSAtPOn4rbQAhSgqmIwTI=';
const described = { description: 'What it is for.' };
const ajv = new Ajv({ allowUnionTypes: true });

/** As the chart writes a value into the environment. */
function environmentText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const object = json('an object', (value) => value, {
  ...described,
  valueSchema: { type: 'object' },
});

const KINDS: readonly [string, Variable<unknown>, good: unknown[], bad: unknown[]][] = [
  ['address', address(described), ['192.0.2.1', '::', '2001:db8::1'], ['localhost', '1.2.3', 7]],
  [
    'listenAddressList(2)',
    listenAddressList(2, described),
    [['192.0.2.1', '::1'], ['::']],
    [[], '192.0.2.1', ['::1', '::2', '::3'], ['localhost']],
  ],
  ['addressList(4)', addressList(4, described), [['192.0.2.1']], [[], '192.0.2.1', ['::1']]],
  ['addressList(6)', addressList(6, described), [['::1', '2001:db8::7']], [['192.0.2.1']]],
  ['boolean', boolean(described), [true, false], ['true', 1]],
  ['byteSize', byteSize(described), [512, '8mb', '1GB'], ['8 mb', -1, true]],
  ['choice', choice(['public', 'off'], described), ['off'], ['Off', '']],
  [
    'cidrList',
    cidrList(described),
    [['192.0.2.0/24', '2001:db8::/32', '192.0.2.7']],
    [['192.0.2.0/24,192.0.3.0/24'], ['example'], ['256.0.2.0/24']],
  ],
  [
    'upstreamList',
    upstreamList(53, described),
    [
      ['192.0.2.1', '192.0.2.2:5353', '2001:db8::1', '[2001:db8::2]:54', '[2001:db8::3]'],
      ['tls://192.0.2.1#dns.example', 'tls://[2001:db8::1]:8853#dns.example'],
      [`tls://2001:db8::1#sha256/${PIN}`, '192.0.2.1'],
    ],
    [
      ['ns.example:53'],
      ['192.0.2.1:'],
      ['[192.0.2.1]:53'],
      ['tls://192.0.2.1'],
      ['tls://192.0.2.1#'],
      ['tls://192.0.2.1#192.0.2.1'],
      ['tls://dns.example#dns.example'],
      ['tls://192.0.2.1#sha256/AAAA'],
      ['192.0.2.1#dns.example'],
    ],
  ],
  ['hexKey', hexKey(2, described), ['00fF'], ['00f', '00zz', 1234]],
  [
    'hexKeyList',
    hexKeyList(2, 2, described),
    [['00ff', '0102']],
    [
      ['00ff', '01'],
      ['1', '2', '3'],
    ],
  ],
  ['decimal', decimal(0, 1, described), [0, 0.25, 1], [-0.1, 1.5, '0.5']],
  ['integer', integer(1, 9, described), [1, 9], [0, 10, 1.5, '5']],
  ['json', object, [{}, { 7: ['192.0.2.7'] }], ['{}', []]],
  ['port', port(described), [0, 65535], [65536, '53', -1]],
  ['secret', secret(4, described), ['abcd', 'ab,cd'], ['abc', 'ab cd']],
  ['secretList', secretList(4, described), [['abcd', 'efgh']], [['ab,cd'], ['abc'], 'abcd']],
  ['text', text('a folder', described), ['/srv'], ['', 7]],
  ['timeZone', timeZone(described), ['UTC', 'Europe/London', 'Etc/GMT+3'], ['+01:00', 'a b']],
  [
    'url',
    url(['redis', 'rediss'], described),
    ['redis://127.0.0.1:6379', 'rediss://user:secret@redis.example/1'],
    ['http://127.0.0.1', 'redis'],
  ],
];

describe.each(KINDS)('the value schema of %s', (_name, variable, good, bad) => {
  const validate = ajv.compile(variable.valueSchema);

  it.each(good.map((value) => ({ value })))(
    'takes $value, which the process takes too',
    ({ value }) => {
      expect(validate(value)).toBe(true);
      expect(() => variable.parse(environmentText(value))).not.toThrow();
    },
  );

  it.each(bad.map((value) => ({ value })))('refuses $value', ({ value }) => {
    expect(validate(value)).toBe(false);
  });
});
