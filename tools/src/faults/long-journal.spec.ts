import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killWithLongJournal } from './long-journal.js';

interface LoggedChange {
  readonly revision: number;
  readonly operations: readonly (readonly [string, string, readonly number[]])[];
}

describe('killWithLongJournal', () => {
  let folder: string;
  let journal: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-long-journal-'));
    journal = join(folder, 'journal');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const resolver = { kill: () => Promise.resolve() };
  const line = (revision: number, operations: LoggedChange['operations']) => {
    const json = JSON.stringify({ revision, digest: 'd', operations });
    return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
  };

  it('makes the journal 30 MB long, and each change does what it did', async () => {
    const own = Array.from({ length: 20 }, (_, i) => ['put', 'schedule', [1, i]] as const);
    const lines = Array.from({ length: 100 }, (_, i) => line(i, i === 7 ? [] : own));
    writeFileSync(journal, `${lines.join('')}a line that was cut`);
    await killWithLongJournal(resolver, folder);
    expect(statSync(journal).size).toBeGreaterThan(30_000_000);
    const [last, ...reversed] = readFileSync(journal, 'utf8').split('\n').reverse();
    expect([last, reversed.length]).toEqual(['', 100]);
    for (const [i, text] of reversed.reverse().entries()) {
      const json = text.slice(9);
      expect(parseInt(text.slice(0, 8), 16)).toBe(crc32(json));
      const { revision, operations } = JSON.parse(json) as LoggedChange;
      expect(revision).toBe(i);
      const rules = new Set<number>();
      const others = operations.filter(([type, kind, [, hash]]) => {
        if (kind !== 'domainRule') return true;
        if (type === 'put') rules.add(hash);
        else rules.delete(hash);
        return false;
      });
      expect(others).toEqual(i === 7 ? [] : own);
      expect(rules.size).toBe(0);
    }
  });

  it('leaves a journal without a whole line as it is', async () => {
    const cut = 'x'.repeat(30_000);
    writeFileSync(journal, cut);
    await killWithLongJournal(resolver, folder);
    expect(readFileSync(journal, 'utf8')).toBe(cut);
  });
});
