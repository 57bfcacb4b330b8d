import { parseVariables } from '@weir/ops';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STACK_SCHEMA } from './configuration.js';
import { readSecrets } from './secrets.js';

describe('readSecrets', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const read = (environment: Record<string, string> = {}) =>
    readSecrets(parseVariables(STACK_SCHEMA, environment), folder);

  it('generates secrets once, in a file that only the owner may read, and reads them again', () => {
    const made = read();
    expect(read()).toEqual(made);
    expect(made.domainHashKey).toMatch(/^[0-9a-f]{32}$/);
    expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
  });

  it('adds those that a file of before has not, and leaves the others as they are', () => {
    const file = join(folder, 'secrets.json');
    const { incidentKeys, opsTokens, ...before } = read();
    writeFileSync(file, JSON.stringify(before));
    const { incidentKeys: keys, opsTokens: tokens, ...after } = read();
    expect(after).toEqual(before);
    expect([keys.length, tokens.length]).toEqual([1, 1]);
    expect([keys, tokens]).not.toEqual([incidentKeys, opsTokens]);
    expect(read()).toEqual({ ...before, incidentKeys: keys, opsTokens: tokens });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('prefers the secrets of the environment', () => {
    const key = '0'.repeat(32);
    const environment = {
      DOMAIN_HASH_KEY: key,
      FEED_TOKENS: 'a-token-of-this-test,another-token-of-it',
      OPS_TOKENS: 'an-ops-token-of-this-test,another-one-of-this-test',
      DNS_COOKIE_SECRETS: key,
      INCIDENT_KEYS: `${key},${key}`,
    };
    expect(read(environment)).toMatchObject({
      domainHashKey: key,
      feedTokens: ['a-token-of-this-test', 'another-token-of-it'],
      opsTokens: ['an-ops-token-of-this-test', 'another-one-of-this-test'],
      dnsCookieSecrets: [key],
      incidentKeys: [key, key],
    });
  });

  it.each([
    '',
    '{',
    'null',
    '{}',
    '[]',
    '{"managementTokens":"abc"}',
    '{"managementTokens":[],"feedTokens":["0123456789abcdef"],"domainHashKey":"00"}',
    `{"managementTokens":["0123456789abcdef"],"feedTokens":["0123456789abcdef"],"domainHashKey":"${'0'.repeat(32)}","opsTokens":[]}`,
    '{"managementTokens":["0123456789abcdef"],"feedTokens":["0123456789abcdef"]}',
  ])('refuses a file that holds %j, naming it', (text) => {
    writeFileSync(join(folder, 'secrets.json'), text);
    expect(() => read()).toThrow(/secrets\.json is not what the stack wrote there/);
  });
});
