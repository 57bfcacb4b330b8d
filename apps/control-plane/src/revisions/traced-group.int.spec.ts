import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Database } from '../platform/database/database.js';
import { WorkingBlockPages } from '../resources/block-pages/block-page-store.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { RecordedSpan } from '../testing/recorded-spans.js';
import { type ChangeOrigin, ChangeTrace } from './change-record.js';
import { GroupCommit } from './group-commit.js';
import type { SubmittedChange } from './working-tables.js';
import { WriteQueue } from './write-queue.js';

const originOf = (span: RecordedSpan): ChangeOrigin => ({
  author: { origin: 'repair' },
  trace: ChangeTrace.begin(span),
});
const page = (id: number): SubmittedChange<void> => ({
  need: (tables) => tables.of(WorkingBlockPages.open).need({ id }),
  make: (tables) => {
    const pages = tables.of(WorkingBlockPages.open);
    if (pages.find({ id }) !== null) throw new Error('it exists already');
    const after = { id, type: 0 };
    pages.put(after);
    return { result: undefined, changes: [{ kind: 'blockPage', before: null, after }] };
  },
});

describe('changes that share a transaction', () => {
  let url: string;
  let database: Database;
  let other: pg.Client;

  beforeEach(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    database = new Database(url, pino({ level: 'silent' }));
    other = new pg.Client(url);
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await database.close();
    await dropDatabase(inject('databaseUrl'), url);
  });

  it('have a span each in the trace of their call, linked to that of the first', async () => {
    const said: string[] = [];
    const applied = Promise.resolve({ applied: 0, total: 0 });
    const queue = new WriteQueue();
    const commit = new GroupCommit(database, queue, () => applied);
    const submit = (name: string, id: number) =>
      commit.submit(page(id), originOf(new RecordedSpan(name, said)));
    await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    const all = [submit('one', 1), submit('two', 2), submit('again', 1)];
    await other.query('COMMIT');
    const made = await Promise.allSettled(all);
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(said.filter((line) => line.includes('transaction'))).toEqual([
      'one change.transaction begins',
      'two change.transaction shared with one change.transaction begins',
      'again change.transaction shared with one change.transaction begins',
      'one change.transaction ends 3',
      'two change.transaction ends 3',
      'again change.transaction ends 3',
    ]);
  });

  it('fail together when the database is out of reach', async () => {
    const said: string[] = [];
    const applied = Promise.resolve({ applied: 0, total: 0 });
    const commit = new GroupCommit(database, new WriteQueue(), () => applied);
    await database.close();
    const call = new RecordedSpan('call', said);
    await expect(commit.submit(page(1), originOf(call))).rejects.toThrow();
    database = new Database(url, pino({ level: 'silent' }));
    expect(said.at(-1)).toBe('call change.transaction fails');
  });
});
