import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { startHarness } from '../testing/harness.js';
import { openPool } from '../testing/open-pool.js';
import { CHANGES_KEPT, HOURS_KEPT, pruneChangeLog } from './pruning.js';
import { lockHead, logChanges } from './change-log.js';

const NEVER = new AbortController().signal;

// Its own database, because a control plane would prune the log too.
describe('pruneChangeLog', () => {
  let url: string;
  let pool: pg.Pool;
  const sql = async (text: string) =>
    (await pool.query<unknown[]>({ text, rowMode: 'array' })).rows;
  /** Creates a log with this many changes. The first `old` of them expired a minute ago. */
  const fill = async (changes: number, old: number) => {
    await sql('TRUNCATE change');
    await sql(`
      INSERT INTO change (revision, digest, operations, created_at)
      SELECT revision, repeat('0', 16), '[]', now() - CASE WHEN revision <= ${old}
        THEN interval '${HOURS_KEPT} hours 1 minute' ELSE interval '${HOURS_KEPT - 1} hours 30 minutes' END
      FROM generate_series(1, ${changes}) AS revision`);
    await sql(`UPDATE config_head SET revision = ${changes}`);
  };
  const left = async () =>
    (await sql('SELECT min(revision)::int, max(revision)::int, count(*)::int FROM change'))[0];

  beforeAll(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    pool = openPool({ connectionString: url, max: 2 });
  });
  beforeEach(() => fill(10, 10));
  afterAll(async () => {
    await pool.end();
    await dropDatabase(inject('databaseUrl'), url);
  });

  it('keeps the last hundred thousand changes of any age', async () => {
    await fill(CHANGES_KEPT + 2_500, CHANGES_KEPT + 2_500);
    expect(await pruneChangeLog(pool, NEVER)).toBe(2_500);
    expect(await left()).toEqual([2_501, CHANGES_KEPT + 2_500, CHANGES_KEPT]);
    expect(await pruneChangeLog(pool, NEVER)).toBe(0);
  });

  it('keeps all changes of the last day', async () => {
    await fill(CHANGES_KEPT + 2_500, 1_200);
    expect(await pruneChangeLog(pool, NEVER)).toBe(1_200);
    expect(await left()).toEqual([1_201, CHANGES_KEPT + 2_500, CHANGES_KEPT + 1_300]);
  });

  it('deletes nothing of a short log', async () => {
    expect(await pruneChangeLog(pool, NEVER)).toBe(0);
    expect(await left()).toEqual([1, 10, 10]);
  });

  it('leaves no gap when an old change follows a young one', async () => {
    await fill(CHANGES_KEPT + 100, 100);
    await sql('UPDATE change SET created_at = now() WHERE revision = 40');
    expect(await pruneChangeLog(pool, NEVER)).toBe(39);
    expect(await left()).toEqual([40, CHANGES_KEPT + 100, CHANGES_KEPT + 61]);
  });

  it('is not stopped by a change that a wrong clock has dated', async () => {
    await fill(CHANGES_KEPT + 100, 100);
    await sql("UPDATE change SET created_at = now() + interval '1 year' WHERE revision = 40");
    expect(await pruneChangeLog(pool, NEVER)).toBe(100);
  });

  it('does not delay a concurrent change', async () => {
    await fill(CHANGES_KEPT + 100, 100);
    const [client, changing] = [await pool.connect(), await pool.connect()];
    try {
      await client.query('BEGIN');
      expect(await pruneChangeLog(client, NEVER)).toBe(100);
      await changing.query('BEGIN');
      const { head } = await lockHead(changing);
      const change = { ...head, revision: head.revision + 1, operations: [] };
      const author = { origin: 'repair' } as const;
      const profiles: number[] = [];
      const made = { result: null, change, author, trace: null, profiles };
      await logChanges(changing, [made]);
      await changing.query('COMMIT');
    } finally {
      await client.query('ROLLBACK');
      client.release();
      changing.release();
    }
    expect((await left())[1]).toBe(CHANGES_KEPT + 101);
  });

  it('ends between two batches when its signal is aborted', async () => {
    await fill(CHANGES_KEPT + 2_500, 2_500);
    const stop = new AbortController();
    pool.once('acquire', () => {
      stop.abort(new Error('stopped'));
    });
    await expect(pruneChangeLog(pool, stop.signal)).rejects.toThrow('stopped');
    expect((await left())[0]).toBe(1_001);
  });
});

it('runs as a background job of the control plane', async () => {
  const harness = await startHarness();
  await vi.waitFor(
    async () => {
      const metrics = await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/metrics`);
      expect(await metrics.text()).toMatch(
        /weir_job_runs_total\{name="prune-change-log",result="completed"\} [1-9]/,
      );
    },
    { timeout: 60_000, interval: 50 },
  );
  await harness.stop();
});
