import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withDatabase } from './database.js';

describe('withDatabase', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-database-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const find = async (url?: string) => {
    let found = '';
    await withDatabase(url, folder, false, (databaseUrl) => {
      found = databaseUrl;
      return Promise.resolve();
    });
    return found;
  };

  it('uses the database of the environment, or else that of the local stack', async () => {
    const url = 'postgresql://weir@127.0.0.1:1/weir';
    writeFileSync(join(folder, 'stack.json'), JSON.stringify({ backup: { DATABASE_URL: url } }));
    expect(await find()).toBe(url);
    expect(await find('postgresql://elsewhere')).toBe('postgresql://elsewhere');
  });

  it('explains what to do if there is neither', async () => {
    await expect(find()).rejects.toThrow('set DATABASE_URL, or start the local stack (npm start)');
  });
});
