import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { DEPLOYMENT_VARIABLES, openDeployment, type OpenDeployment } from './deployment.js';
import { hexKey, parseVariables } from './variables/index.js';

const KEY = '000102030405060708090a0b0c0d0e0f';
const [ONE, TWO, THREE] = ['token-number-one-', 'token-number-two-', 'token-number-three'];
const folder = mkdtempSync(join(tmpdir(), 'weir-tokens-'));
const file = join(folder, 'tokens');
const events: string[] = [];
const log = {
  info: (_: object, text: string) => events.push(text),
  warn: (details: object, text: string) => events.push(text, JSON.stringify(details)),
};
const opened: OpenDeployment[] = [];
const open = (variables: Record<string, string>) => {
  const schema = { ...DEPLOYMENT_VARIABLES, DOMAIN_HASH_KEY: hexKey(16, { description: '' }) };
  const deployment = openDeployment(
    parseVariables(schema, { DOMAIN_HASH_KEY: KEY, ...variables }),
    log,
  );
  opened.push(deployment);
  return deployment;
};

afterEach(() => {
  for (const one of opened.splice(0)) one.close();
  events.length = 0;
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('openDeployment', () => {
  it('takes the tokens of the file, else those of FEED_TOKENS', () => {
    writeFileSync(file, `# used first\n${THREE}\n\n`);
    const FEED_TOKENS = `${TWO},${ONE}`;
    expect(open({ FEED_TOKENS, FEED_TOKENS_FILE: file }).tokens()).toEqual([THREE]);
    expect(open({ FEED_TOKENS }).tokens()).toEqual([TWO, ONE]);
  });

  it('reads the file again when it changes, and keeps the tokens when it is bad', async () => {
    writeFileSync(file, ONE);
    const { tokens, tokenFileFaults } = open({ FEED_TOKENS_FILE: file });
    writeFileSync(file, 'short');
    await expect.poll(tokenFileFaults).toBeGreaterThan(0);
    expect(tokens()).toEqual([ONE]);
    expect(events.join()).toContain('line 1: a token has 16 to 1000 characters');
    expect(events.join()).not.toContain('short');
    writeFileSync(file, `${TWO}\n${ONE}\n`);
    await expect.poll(tokens).toEqual([TWO, ONE]);
  });

  it('fails at the start without a token, or with a file that has none', () => {
    expect(() => open({})).toThrow(/^FEED_TOKENS is required/);
    writeFileSync(file, '# none\n');
    expect(() => open({ FEED_TOKENS_FILE: file })).toThrow(/^FEED_TOKENS_FILE: .* has no token$/);
  });

  it('has an id that no token changes, and that shows nothing of the key', () => {
    const { id } = open({ FEED_TOKENS: ONE });
    expect(open({ FEED_TOKENS: TWO }).id).toBe(id);
    expect(open({ FEED_TOKENS: ONE, DOMAIN_HASH_KEY: KEY.toUpperCase() }).id).toBe(id);
    expect(open({ FEED_TOKENS: ONE, DOMAIN_HASH_KEY: 'f'.repeat(32) }).id).not.toBe(id);
    expect(open({ FEED_TOKENS: ONE, DEPLOYMENT_ID: 'north' }).id).toBe('north');
    expect(id).not.toContain(KEY.slice(0, 8));
  });
});
