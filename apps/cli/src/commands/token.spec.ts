import { parseTokens } from '@weir/control-plane/http/callers/tokens';
import { sha256 } from '@weir/ops';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWeir } from '../testing/run-weir.js';

const run = (...argv: string[]) => runWeir(['token', ...argv]);
const entryOf = (out: readonly string[]) => out.slice(out.indexOf('- name: billing')).join('\n');

describe('weir token', () => {
  it('makes a token and the entry with its hash', async () => {
    const { code, out } = await run('create', 'billing', 'write');
    const [token] = parseTokens(entryOf(out));
    expect([code, token.name, token.scope]).toEqual([0, 'billing', 'write']);
    const shown = out.find((line) => /^[\w-]{43}$/.test(line))!;
    expect(token.digest).toEqual(sha256(shown));
    expect((await run('create', 'billing')).out).not.toContain(shown);
  });

  it.each([
    [2, ['create'], "missing required argument 'name'"],
    [2, ['create', 'billing', 'admin'], 'Allowed choices are read, write, replace'],
    [1, ['create', 'env-1'], 'name must begin with'],
    [1, ['check', '/nowhere'], 'ENOENT'],
  ])('ends with %i for %j', async (code, argv, reason) => {
    const ended = await run(...argv);
    expect([ended.code, ended.errors[0]]).toEqual([code, expect.stringContaining(reason)]);
  });

  it('checks a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-tokens-'));
    const file = join(folder, 'tokens.yaml');
    writeFileSync(file, entryOf((await run('create', 'billing', 'write')).out));
    expect(await run('check', file)).toEqual({
      code: 0,
      out: [`${file} is good: billing (write)`],
      errors: [],
    });
    writeFileSync(file, 'billing');
    expect((await run('check', file)).code).toBe(1);
    rmSync(folder, { recursive: true });
  });
});
