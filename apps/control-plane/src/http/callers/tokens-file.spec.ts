import { describe, expect, it } from 'vitest';
import { parseTokens } from './tokens.js';

const HASH = 'ab'.repeat(32);
/** What `sha256sum` says about nothing. */
const HASH_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const entry = (more = '', hash = HASH) =>
  `- { name: billing, sha256: '${hash}', scope: write ${more && `, ${more}`} }\n`;

describe('parseTokens', () => {
  it('reads names, hashes, scopes, sources and times', () => {
    const [token] = parseTokens(
      entry(`sources: [192.0.2.0/24, '2001:db8::/32'], expires: 2027-01-31T12:00+02:00`),
    );
    expect(token).toMatchObject({ name: 'billing', scope: 'write' });
    expect(token.digest.toString('hex')).toBe(HASH);
    expect(token.sources?.set.has({ family: 4, words: Uint32Array.of(0xc0000207, 0, 0, 0) })).toBe(
      true,
    );
    expect(new Date(token.expiresMs).toISOString()).toBe('2027-01-31T10:00:00.000Z');
  });

  it('takes a date for its first moment in UTC, and no date for never', () => {
    expect(parseTokens(entry('expires: 2027-01-31'))[0].expiresMs).toBe(Date.UTC(2027, 0, 31));
    expect(parseTokens(entry())[0].expiresMs).toBe(Infinity);
  });

  it.each([
    ['2026-11-23T15:20:00.123Z', '2026-11-23T15:20:00.123Z'],
    ['2026-11-23T15:20:00.123456789+01:00', '2026-11-23T14:20:00.123Z'],
    ['2026-11-23 15:20:00z', '2026-11-23T15:20:00.000Z'],
    ["'2026-11-23t15:20:00-00:00'", '2026-11-23T15:20:00.000Z'],
    ['"2016-12-31T23:59:60Z"', '2017-01-01T00:00:00.000Z'],
  ])('takes the time %s of RFC 3339, with and without quotes', (expires, time) => {
    const [token] = parseTokens(entry().replace(' }', `, expires: ${expires} }`));
    expect(new Date(token.expiresMs).toISOString()).toBe(time);
    const [inBlock] = parseTokens(
      `- name: billing\n  sha256: '${HASH}'\n  scope: write\n  expires: ${expires}\n`,
    );
    expect(inBlock.expiresMs).toBe(token.expiresMs);
  });

  it('takes the line ends of Windows', () => {
    const block = `- name: billing\n  sha256: '${HASH}'\n  scope: write\n`;
    expect(parseTokens(block.replaceAll('\n', '\r\n'))).toEqual(parseTokens(block));
  });

  it('takes an empty list', () => {
    expect(parseTokens('[]')).toEqual([]);
  });

  it.each([
    ['', 'must be a YAML list'],
    ['name: billing', 'must be a YAML list'],
    ['- {', 'line 1 is not YAML'],
    ['- secret-text', 'token 1 must have the fields'],
    [entry('soruces: [192.0.2.0/24]'), 'token 1: may have only'],
    [entry('sources: []'), 'token 1: sources must be a list of networks'],
    [entry('sources: [secret-text]'), 'token 1: sources must be a list of networks such as'],
    [entry('sources: 192.0.2.0/24'), 'token 1: sources must be a list of networks'],
    [entry('expires: secret-text'), 'token 1: expires must be a date'],
    [entry('expires: 2027-02-31T25:00Z'), 'token 1: expires must be a date'],
    [entry('expires: 2027-01-31T12:00'), 'token 1: expires must be a date'],
    [entry('expires: 2027-02-29'), 'token 1: expires must be a date'],
    [entry('expires: 1798761600'), 'token 1: expires must be a date'],
    [entry('', 'secret-text'), 'token 1: sha256 must be 64 hexadecimal digits'],
    [entry('', HASH_OF_NOTHING), 'token 1: sha256 is that of an empty text'],
    [entry('', HASH_OF_NOTHING.toUpperCase()), 'token 1: sha256 is that of an empty text'],
    [entry().replace('write', 'secret-text'), 'token 1: scope must be one of read, write, replace'],
    [entry().replace('billing', 'env-1'), 'token 1: name must begin with a letter'],
    [entry().replace('billing', "'secret text'"), 'token 1: name must begin with a letter'],
    [entry() + entry('', 'cd'.repeat(32)), 'token 2: its name is taken'],
    [entry() + entry().replace('billing', 'other'), 'token 2: its sha256 is that of another token'],
    [`- &a { name: a }\n- *a\n`, 'aliases'],
    [entry().repeat(201), 'more than 200 tokens'],
  ])('refuses %j: %s', (text, reason) => {
    expect(() => parseTokens(text)).toThrow(reason);
    expect(() => parseTokens(text)).not.toThrow('secret');
  });
});
