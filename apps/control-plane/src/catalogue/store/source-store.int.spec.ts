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

  async function accept(names: Buffer): Promise<void> {
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
      places: Buffer.alloc(0),
      namesSha256: createHash('sha256').update(names).digest('hex'),
    };
    await recordList(database.pool, 'list.txt', list, null);
  }

  const stateOf = async () => {
    const state = (await readStates(database.pool)).get('list.txt');
    if (state === undefined) throw new Error('the source is not stored');
    return state;
  };

  it('reads the whole of a large list', async () => {
    const names = randomBytes(LIST_BYTES);
    await accept(names);
    expect(names.equals(await readBytes(database.pool, 'names', await stateOf()))).toBe(true);
  });

  it('throws when the list was replaced meanwhile', async () => {
    await accept(randomBytes(LIST_BYTES));
    const before = await stateOf();
    await accept(randomBytes(LIST_BYTES));
    await expect(readBytes(database.pool, 'names', before)).rejects.toThrow('a list was replaced');
  });

  it('reads no bytes of a source that has no list', async () => {
    const none = { namesSha256: null, namesBytes: 0 };
    expect(await readBytes(database.pool, 'names', none)).toHaveLength(0);
  });
});
