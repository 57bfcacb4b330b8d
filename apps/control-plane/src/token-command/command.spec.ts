import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTokens } from '../http/callers/tokens-file.js';
import { sha256 } from '@weir/ops';
import { runCommand } from './command.js';

describe('npm run token', () => {
  it('makes a token and the entry with its hash', () => {
    const { text, code } = runCommand(['billing', 'write']);
    const [token] = parseTokens(text.slice(text.indexOf('- name')));
    expect([code, token.name, token.scope]).toEqual([0, 'billing', 'write']);
    const [shown] = /^[\w-]{43}$/m.exec(text)!;
    expect(token.digest).toEqual(sha256(shown));
    expect(runCommand(['billing']).text).not.toContain(shown);
  });

  it.each(['--help', '-h'])('explains itself with %s', (flag) => {
    expect(runCommand([flag])).toEqual({ code: 0, text: expect.stringContaining('usage: ') });
  });

  it.each([
    [[], 'npm run token -- NAME'],
    [['billing', 'admin'], 'scope must be one of'],
    [['env-1'], 'name must begin with'],
    [['--check', '/nowhere'], 'ENOENT'],
  ])('refuses %j', (args, reason) => {
    const { text, code } = runCommand(args);
    expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
  });

  it('checks a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-tokens-'));
    const file = join(folder, 'tokens.yaml');
    const { text } = runCommand(['billing', 'write']);
    writeFileSync(file, text.slice(text.indexOf('- name')));
    expect(runCommand(['--check', file])).toEqual({
      code: 0,
      text: `${file} is good: billing (write)\n`,
    });
    writeFileSync(file, 'billing');
    expect(runCommand(['--check', file]).code).toBe(1);
    rmSync(folder, { recursive: true });
  });
});
