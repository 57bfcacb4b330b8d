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
  needs,
  optional,
  parseVariables,
  port,
  secretList,
  text,
  timeZone,
  url,
  VariableError,
} from './index.js';

const PIN = 'nw8C+VVt9bWlfmVFCH5SHZzSAtPOn4rbQAhSgqmIwTI=';
const described = { description: 'What it is for.' };

describe('parseVariables', () => {
  it('reads values, defaults and absent optional variables', () => {
    const schema = {
      DNS_PORT: port({ ...described, default: '5300' }),
      BLOCK_TTL: integer(0, 86400, described),
      BLOCK_PAGE_IPV4: optional(addressList(4, described)),
    };
    expect(parseVariables(schema, { BLOCK_TTL: '10' })).toEqual({
      DNS_PORT: 5300,
      BLOCK_TTL: 10,
      BLOCK_PAGE_IPV4: undefined,
    });
  });

  it('counts an empty text as unset', () => {
    const schema = { DNS_PORT: port({ ...described, default: '5300' }) };
    expect(parseVariables(schema, { DNS_PORT: ' ' }).DNS_PORT).toBe(5300);
  });

  it('names every invalid or missing variable on its own line, and what it may be', () => {
    const schema = { DNS_PORT: port(described), FEED_URL: url(['http', 'https'], described) };
    expect(() => parseVariables(schema, { DNS_PORT: '53x' })).toThrow(
      new VariableError(
        'DNS_PORT must be a port number from 0 to 65535\n' +
          'FEED_URL is required: it must be a URL that begins with http:// or https://',
      ),
    );
  });

  it('refuses the URL of a port to which fetch makes no connection', () => {
    const schema = { FEED_URL: url(['http', 'https'], described) };
    expect(() => parseVariables(schema, { FEED_URL: 'http://10.0.0.1:6000' })).toThrow(
      'FEED_URL must be a URL that begins with http:// or https:// (fetch makes no connection to port 6000)',
    );
  });

  it('names a variable that is missing beside one that needs it', () => {
    const schema = {
      TLS_CERT: optional(needs('TLS_KEY', text('a PEM file', described))),
      TLS_KEY: optional(needs('TLS_CERT', text('a PEM file', described))),
    };
    const both = { TLS_CERT: 'a.crt', TLS_KEY: 'a.key' };
    expect(parseVariables(schema, {})).toEqual({ TLS_CERT: undefined, TLS_KEY: undefined });
    expect(parseVariables(schema, both)).toEqual(both);
    expect(() => parseVariables(schema, { TLS_CERT: 'a.crt', TLS_KEY: ' ' })).toThrow(
      new VariableError('TLS_KEY must be given with TLS_CERT'),
    );
  });

  it('never repeats the text of a secret', () => {
    const schema = { MANAGEMENT_TOKENS: secretList(16, described) };
    const token = 'short but secret';
    expect(() => parseVariables(schema, { MANAGEMENT_TOKENS: token })).toThrow(
      /^(?!.*short but secret).*MANAGEMENT_TOKENS must be/,
    );
  });
});

describe('kinds of variables', () => {
  const accepted: readonly [string, { parse(text: string): unknown }, string, unknown][] = [
    ['address', address(described), '2001:db8::1', '2001:db8::1'],
    ['addressList', addressList(6, described), '::1, 2001:db8::1', ['::1', '2001:db8::1']],
    ['boolean', boolean(described), 'false', false],
    ['byteSize', byteSize(described), '8mb', 8 * 1024 * 1024],
    ['byteSize', byteSize(described), '512', 512],
    ['choice', choice(['public', 'off'], described), 'off', 'off'],
    ['hexKey', hexKey(2, described), '00FF', '00ff'],
    ['hexKeyList', hexKeyList(2, 2, described), '00FF, 0102', ['00ff', '0102']],
    ['timeZone', timeZone(described), 'Europe/London', 'Europe/London'],
    ['url', url(['redis'], described), 'redis://127.0.0.1:6379', 'redis://127.0.0.1:6379'],
    [
      'upstreamList',
      upstreamList(53, described),
      '192.0.2.1,192.0.2.2:5353,2001:db8::1,[2001:db8::2]:54,[2001:db8::3]',
      [
        { address: '192.0.2.1', port: 53 },
        { address: '192.0.2.2', port: 5353 },
        { address: '2001:db8::1', port: 53 },
        { address: '2001:db8::2', port: 54 },
        { address: '2001:db8::3', port: 53 },
      ],
    ],
    [
      'upstreamList',
      upstreamList(53, described),
      `tls://192.0.2.1#dns.example,tls://[2001:db8::1]:8853#sha256/${PIN},tls://2001:db8::2#a.b-c.example`,
      [
        { address: '192.0.2.1', port: 853, tls: { name: 'dns.example' } },
        { address: '2001:db8::1', port: 8853, tls: { pin: PIN } },
        { address: '2001:db8::2', port: 853, tls: { name: 'a.b-c.example' } },
      ],
    ],
  ];
  it.each(accepted)('%s reads what it allows', (_name, kind, text, value) => {
    expect(kind.parse(text)).toEqual(value);
  });

  const refused: readonly [string, { parse(text: string): unknown }, string][] = [
    ['address', address(described), 'localhost'],
    ['address', address(described), 'fe80::1%lo'],
    ['addressList', addressList(4, described), '192.0.2.1,,192.0.2.2'],
    ['addressList', addressList(4, described), '2001:db8::1'],
    ['boolean', boolean(described), 'yes'],
    ['byteSize', byteSize(described), '8 mb'],
    ['choice', choice(['public', 'off'], described), 'Off'],
    ['cidrList', cidrList(described), '192.0.2.0/33'],
    ['upstreamList', upstreamList(53, described), '192.0.2.1:0'],
    ['upstreamList', upstreamList(53, described), '192.0.2.1:99999'],
    ['upstreamList', upstreamList(53, described), '[192.0.2.1]:53'],
    ['upstreamList', upstreamList(53, described), 'ns.example:53'],
    ['upstreamList', upstreamList(53, described), 'tls://192.0.2.1'],
    ['upstreamList', upstreamList(53, described), 'tls://192.0.2.1:853#'],
    ['upstreamList', upstreamList(53, described), 'tls://192.0.2.1#192.0.2.1'],
    ['upstreamList', upstreamList(53, described), 'tls://dns.example#dns.example'],
    ['upstreamList', upstreamList(53, described), `tls://192.0.2.1#sha256/${PIN.slice(4)}`],
    ['upstreamList', upstreamList(53, described), `tls://192.0.2.1#md5/${PIN}`],
    ['upstreamList', upstreamList(53, described), '192.0.2.1#dns.example'],
    ['hexKey', hexKey(2, described), '00f'],
    ['hexKey', hexKey(2, described), '00zz'],
    ['hexKeyList', hexKeyList(2, 2, described), '00ff,0102,0103'],
    ['hexKeyList', hexKeyList(2, 2, described), '00ff,01'],
    ['decimal', decimal(0, 1, described), '1.1'],
    ['decimal', decimal(0, 1, described), '.5'],
    ['decimal', decimal(0, 1, described), '1e-3'],
    ['integer', integer(0, 9, described), '10'],
    ['integer', integer(0, 9, described), '-1'],
    ['integer', integer(0, 9, described), '1.0'],
    ['port', port(described), '0x10'],
    ['timeZone', timeZone(described), 'Mars/Olympus'],
    ['timeZone', timeZone(described), '+01:00'],
    ['timeZone', timeZone(described), 'SystemV/EST5'],
    ['url', url(['redis'], described), 'http://127.0.0.1'],
    ['url', url(['redis'], described), 'redis'],
    ['json', json('a JSON object', (value) => value, described), '{'],
  ];
  it.each(refused)('%s refuses %3$s', (_name, kind, text) => {
    expect(() => kind.parse(text)).toThrow();
  });
});
