import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const ENVIRONMENT = {
  DATABASE_URL: 'postgresql://weir@127.0.0.1:1/weir',
  REDIS_URL: 'redis://127.0.0.1:1',
  DOMAIN_HASH_KEY: '00112233445566778899aabbccddeeff',
  FEED_TOKENS: 'token-of-the-feed-1',
  MANAGEMENT_TOKENS: 'token-of-the-office-1',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-check-'));
  writeFileSync(join(folder, 'nonsense'), 'nonsense');
  writeFileSync(join(folder, 'catalogue.yaml'), 'categories: [{ id: 2 }]');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('--check', () => {
  const check = (env: Readonly<Record<string, string>>) =>
    run(process.execPath, [join(ROOT, 'apps/control-plane/dist/main.js'), '--check'], {
      cwd: ROOT,
      env: Object.fromEntries(
        Object.entries({ ...ENVIRONMENT, ...env }).map(([name, value]) => [
          name,
          value.replace('FOLDER', folder),
        ]),
      ),
    });

  it('accepts the variables that a start needs, and says nothing', async () => {
    expect(await check({})).toEqual({ stdout: '', stderr: '' });
  });

  it.each([
    [{ MANAGEMENT_TOKENS: '' }, 'MANAGEMENT_TOKENS is required'],
    [{ MANAGEMENT_TOKENS_FILE: '/nowhere' }, 'MANAGEMENT_TOKENS_FILE names a file that cannot'],
    [{ MANAGEMENT_TOKENS_FILE: 'FOLDER/nonsense' }, 'MANAGEMENT_TOKENS_FILE: '],
    [{ FEED_TOKENS_FILE: 'FOLDER/nonsense' }, 'FEED_TOKENS_FILE: '],
    [
      { MANAGEMENT_TLS_CERT: 'FOLDER/nonsense', MANAGEMENT_TLS_KEY: 'FOLDER/nonsense' },
      'MANAGEMENT_TLS_CERT must name a PEM file',
    ],
    [{ FEED_TLS_CERT: '/nowhere', FEED_TLS_KEY: '/nowhere' }, 'FEED_TLS_CERT names a file that'],
    [{ CATALOGUE: 'FOLDER' }, 'catalogue.yaml:1: categories[0]: name is'],
    [{ CATALOGUE_SETS: 'nothing' }, 'CATALOGUE_SETS: no set nothing'],
  ])('refuses %j as a start would', async (env, problem) => {
    const refused = check(env);
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^control-plane: [^\n]*\n$/),
    });
    await expect(refused).rejects.toThrow(`control-plane: ${problem}`);
  });
});
