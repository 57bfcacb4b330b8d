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

  it('prefers what the environment names, and else takes that of the local stack', () => {
    const url = 'postgresql://weir@127.0.0.1:1/weir';
    writeFileSync(
      join(root, 'stack.json'),
      JSON.stringify({ 'control-plane': { DATABASE_URL: url } }),
    );
    expect(find()).toBe(url);
    expect(find('postgresql://elsewhere')).toBe('postgresql://elsewhere');
  });

  it('says what to do when there is neither', () => {
    expect(() => find()).toThrow('set DATABASE_URL, or start the local stack (npm start)');
  });
});

it('a database that is out of reach is said in one line', async () => {
  await expect(
    withClient('postgresql://weir@127.0.0.1:1/weir', () => Promise.resolve()),
  ).rejects.toThrow(/^the database cannot be reached: .*ECONNREFUSED 127\.0\.0\.1:1 .*$/);
});
