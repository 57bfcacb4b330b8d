import type { EncodedChange } from '@weir/config-model';
import pg from 'pg';
import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { Database } from '../platform/database/database.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.js';
import type { Work } from './change-attempt.js';
import { GroupCommit, type GroupLimits } from './group-commit.js';
import { Turns } from './turns.js';

const adminUrl = inject('databaseUrl');

describe('GroupCommit', () => {
  let url: string;
  let proxy: TcpProxy;
  let database: Database;
  let other: pg.Client;
  let commits: GroupCommit;
  let published: EncodedChange[][];

  const start = (limits: GroupLimits, turnTimeoutMs = 60_000) => {
    const onCommitted = (changes: readonly EncodedChange[]) => {
      published.push([...changes]);
      return Promise.resolve();
    };
    return new GroupCommit(database, new Turns(turnTimeoutMs), onCommitted, limits);
  };
  /** Makes a block page; the result is the number of those that were there before. */
  const page =
    (id: number): Work<number> =>
    async (tx) => {
      const result = await tx.blockPage.count();
      const after = await tx.blockPage.create({ data: { id, type: 0 } });
      return { result, changes: [{ kind: 'blockPage', before: null, after }] };
    };
  const pages = async () => {
    const { rows } = await other.query<{ id: number }>('SELECT id FROM block_page ORDER BY id');
    return rows.map(({ id }) => id);
  };
  /** Revisions by transaction. */
  const groups = async () => {
    const { rows } = await other.query<{ revisions: number[] }>(
      `SELECT array_agg(revision::int ORDER BY revision) AS revisions FROM change
       GROUP BY xmin::text ORDER BY min(revision)`,
    );
    return rows.map(({ revisions }) => revisions);
  };
  /** Begins all of them while nothing can be made, so that they wait together. */
  const whileLocked = async <T>(begin: () => Promise<T>[]): Promise<T[]> => {
    await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    const all = begin();
    await sleep(50);
    await other.query('COMMIT');
    return Promise.all(all);
  };

  beforeEach(async () => {
    url = await createFreshDatabase(adminUrl);
    const { hostname, port } = new URL(url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    database = new Database(proxied.href, pino({ level: 'silent' }));
    other = new pg.Client(url);
    await other.connect();
    published = [];
    commits = start({ changes: 32, growsForMs: 60_000 });
  });
  afterEach(async () => {
    await other.end();
    await database.close();
    await proxy.stop();
    await dropDatabase(adminUrl, url);
  });

  it('makes what waits in one transaction, each on what those before it left and with its own revision', async () => {
    const made = await whileLocked(() => [1, 2, 3].map((id) => commits.make(page(id))));
    expect(made).toMatchObject(
      [1, 2, 3].map((revision, i) => ({ type: 'changed', result: i, change: { revision } })),
    );
    expect(await groups()).toEqual([[1, 2, 3]]);
    expect(published.map((changes) => changes.map(({ revision }) => revision))).toEqual([
      [1, 2, 3],
    ]);
    const { rows } = await other.query('SELECT revision::int, digest FROM config_head');
    expect(rows).toEqual([{ revision: 3, digest: published[0]?.[2]?.digest }]);
  });

  it('undoes one that throws alone: the others stand, without a gap', async () => {
    const refusal = new Error('refused');
    const [first, second, third, fourth] = await whileLocked(() => [
      commits.make(page(1)),
      commits.make(async (tx, head) => {
        await page(2)(tx, head);
        throw refusal;
      }),
      commits.make(page(1)),
      commits.make(page(4)),
    ]);
    expect(first).toMatchObject({ type: 'changed', change: { revision: 1 } });
    expect(second).toEqual({ type: 'refused', reason: refusal });
    expect(third).toMatchObject({ type: 'refused', reason: { code: 'P2002' } });
    expect(fourth).toMatchObject({ type: 'changed', result: 1, change: { revision: 2 } });
    expect([await pages(), await groups()]).toEqual([[1, 4], [[1, 2]]]);
  });

  it('tells those behind an activation of its catalogue', async () => {
    const version = 7;
    await other.query(
      `INSERT INTO catalogue_image (version, sha256, size_bytes, metadata) VALUES (${version}, repeat('0', 64), 1, '{}')`,
    );
    const after = { version, sha256: '0'.repeat(64), sizeBytes: 1 };
    const head: Work<number | null> = (_tx, { catalogueVersion }) =>
      Promise.resolve({ result: catalogueVersion, changes: [] });
    const made = await whileLocked(() => [
      commits.make(head),
      commits.make(() =>
        Promise.resolve({ result: 0, changes: [{ kind: 'catalogue', before: null, after }] }),
      ),
      commits.make(head),
    ]);
    expect(made).toMatchObject([{ result: null }, { result: 0 }, { result: version }]);
  });

  it('takes no revision for work that finds nothing to do, or only refusals', async () => {
    const nothing = () => Promise.resolve(null);
    expect(await commits.make(nothing)).toEqual({ type: 'unchanged' });
    const [first, second] = await whileLocked(() => [
      commits.make(nothing),
      commits.make(() => Promise.reject(new Error('no'))),
    ]);
    expect([first?.type, second?.type]).toEqual(['unchanged', 'refused']);
    expect([await groups(), published.flat()]).toEqual([[], []]);
  });

  it('commits no more together than the limit, and in the order in which they came', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => i);
    const made = await whileLocked(() => ids.map((id) => commits.make(page(id))));
    expect(made).toMatchObject(ids.map((id) => ({ result: id, change: { revision: id + 1 } })));
    expect((await groups()).map(({ length }) => length)).toEqual([32, 8]);
  });

  it('adds none to a group that has taken too long', async () => {
    const hasty = start({ changes: 32, growsForMs: 0 });
    await whileLocked(() => [hasty.make(page(1)), hasty.make(page(2))]);
    expect(await groups()).toEqual([[1], [2]]);
  });

  it('keeps nobody waiting for turns of what was made already', async () => {
    const turns = new Turns(60_000);
    let groups = 0;
    const onCommitted = () => {
      groups++;
      return Promise.resolve();
    };
    const limits = { changes: 2, growsForMs: 60_000 };
    const busy = new GroupCommit(database, turns, onCommitted, limits);
    const nothing: Work<null> = () => Promise.resolve({ result: null, changes: [] });
    let ends = false;
    const writer = async () => {
      while (!ends) await busy.make(nothing);
    };
    const writers = Array.from({ length: 6 }, writer);
    await vi.waitFor(() => expect(groups).toBeGreaterThan(40), { timeout: 20_000 });
    const before = groups;
    const waited = await turns.take(() => Promise.resolve(groups - before));
    ends = true;
    await Promise.all(writers);
    expect(waited).toBeLessThanOrEqual(6);
  });

  it('refuses one whose turn does not come in time, and never makes it', async () => {
    const impatient = start({ changes: 1, growsForMs: 0 }, 30);
    const [first, late] = await whileLocked(() => [
      impatient.make(page(1)),
      impatient.make(page(2)),
    ]);
    expect(first).toMatchObject({ type: 'changed' });
    expect(late).toMatchObject({ type: 'refused', reason: { name: 'QueueTimeoutError' } });
    await impatient.make(page(3));
    expect(await pages()).toEqual([1, 3]);
  });

  it('when a change cannot be logged, nothing stands', async () => {
    // As V8 says of a change whose JSON would be longer than a string may be.
    const unloggable: Work<null> = async (tx, head) => {
      await page(1)(tx, head);
      const type = {
        valueOf: () => 0,
        toJSON: () => {
          throw new RangeError('Invalid string length');
        },
      } as unknown as 0;
      const after = { id: 1, type };
      return { result: null, changes: [{ kind: 'blockPage', before: null, after }] };
    };
    expect(await commits.make(unloggable)).toMatchObject({ type: 'refused' });
    expect([await pages(), published]).toEqual([[], []]);
    expect(await commits.make(page(2))).toMatchObject({ change: { revision: 1 } });
  });

  it('when the COMMIT does not get through, nothing stands and everybody hears why', async () => {
    proxy.breakAt('COMMIT', 'before');
    const made = await whileLocked(() => [
      commits.make(page(1)),
      commits.make(() => Promise.reject(new Error('of what does not stand'))),
      commits.make(page(2)),
    ]);
    const reasons = new Set(made.map((one) => one.type === 'refused' && one.reason));
    expect(reasons.size).toBe(1);
    expect(String([...reasons][0])).toMatch(/Connection terminated|ECONNRESET/);
    expect([await pages(), published]).toEqual([[], []]);
    expect(await commits.make(page(1))).toMatchObject({ change: { revision: 1 } });
  });

  it('when the answer to the COMMIT is lost, everybody hears what stands', async () => {
    proxy.breakAt('COMMIT', 'after');
    const made = await whileLocked(() => [
      commits.make(page(1)),
      commits.make(() => Promise.reject(new Error('no'))),
      commits.make(page(2)),
    ]);
    expect(made.map(({ type }) => type)).toEqual(['changed', 'refused', 'changed']);
    expect([await pages(), await groups()]).toEqual([[1, 2], [[1, 2]]]);
    expect(published.flat()).toHaveLength(2);
  });
});
