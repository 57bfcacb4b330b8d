import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDatabase, withClient } from './database.js';

describe('findDatabase', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'weir-database-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });
  const find = (url?: string) => findDatabase({ DATABASE_URL: url, DATA_DIR: '.' }, root);

  it('uses the database of the environment, or else that of the local stack', () => {
    const url = 'postgresql://weir@127.0.0.1:1/weir';
    writeFileSync(join(root, 'stack.json'), JSON.stringify({ backup: { DATABASE_URL: url } }));
    expect(find()).toBe(url);
    expect(find('postgresql://elsewhere')).toBe('postgresql://elsewhere');
  });

  it('explains what to do if there is neither', () => {
    expect(() => find()).toThrow('set DATABASE_URL, or start the local stack (npm start)');
  });
});

it('withClient reports in one line that the database cannot be reached', async () => {
  await expect(
    withClient('postgresql://weir@127.0.0.1:1/weir', () => Promise.resolve()),
  ).rejects.toThrow(/^the database cannot be reached: .*ECONNREFUSED 127\.0\.0\.1:1 .*$/);
});
