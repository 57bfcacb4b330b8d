import { createHash, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Database } from '../../platform/database/database.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { type StoredList, readBytes, readStates, recordList } from './source-store.js';

/** Several queries are needed to read it, the last one for a part of a piece. */
const LIST_BYTES = 600_001;

describe('readBytes', () => {
  let url: string;
  let database: Database;

  beforeAll(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    database = new Database(url, pino({ level: 'silent' }));
  });
  afterAll(async () => {
    await database.close();
    await dropDatabase(inject('databaseUrl'), url);
  });

  async function accept(names: Buffer, name = 'list.txt', places = Buffer.alloc(0)): Promise<void> {
    const list: StoredList = {
      format: 'domains',
      mirror: null,
      etag: null,
      lastModified: null,
      domainCount: 1,
      invalidCount: 0,
      protectedCount: 0,
      protectedNames: null,
      readWith: '',
      names,
      places,
      namesSha256: createHash('sha256').update(names).digest('hex'),
    };
    await recordList(database.pool, name, list, null);
  }

  const stateOf = async (name = 'list.txt') => {
    const state = (await readStates(database.pool)).get(name);
    if (state === undefined) throw new Error('the source is not stored');
    return state;
  };

  it('reads the whole of a large list', async () => {
    const names = randomBytes(LIST_BYTES);
    await accept(names);
    expect(names.equals(await readBytes(database.pool, 'names', await stateOf()))).toBe(true);
  });

  it('reads what belongs to this source, although another one has the same names', async () => {
    const names = randomBytes(8);
    await accept(names, 'one.txt', Buffer.from('old'));
    await accept(names, 'two.txt', Buffer.from('new'));
    for (const [name, places] of [
      ['one.txt', 'old'],
      ['two.txt', 'new'],
    ]) {
      const read = await readBytes(database.pool, 'places', await stateOf(name));
      expect(String(Buffer.from(read))).toBe(places);
    }
  });

  it('throws when the list was replaced meanwhile', async () => {
    await accept(randomBytes(LIST_BYTES));
    const before = await stateOf();
    await accept(randomBytes(LIST_BYTES));
    await expect(readBytes(database.pool, 'names', before)).rejects.toThrow('a list was replaced');
  });

  it('reads no bytes of a source that has no list', async () => {
    const none = { name: 'none.txt', namesSha256: null, namesBytes: 0 };
    expect(await readBytes(database.pool, 'names', none)).toHaveLength(0);
  });
});
