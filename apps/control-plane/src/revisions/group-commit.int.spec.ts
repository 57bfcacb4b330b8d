import type { EncodedChange } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { Database } from '../platform/database/database.js';
import type { Transaction } from '../platform/database/transaction.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.js';
import type { MadeChange } from './change-record.js';
import { GroupCommit, type GroupLimits, LIMITS } from './group-commit.js';
import type { SubmittedChange, WorkingTable } from './working-tables.js';
import { Deadline, WriteQueue } from './write-queue.js';

const adminUrl = inject('databaseUrl');
const ORIGIN = { author: { origin: 'repair' }, trace: null } as const;
const NOTHING_APPLIED = { applied: 0, total: 0 };

/** Counts the block pages, and adds some. */
class Pages implements WorkingTable {
  static readonly open = () => new Pages();
  count = 0;
  readonly added: number[] = [];

  async read(tx: Transaction) {
    const count = tx.$queryRaw<{ n: number }[]>`SELECT count(*)::int AS n FROM block_page`;
    for (const { n } of await count) this.count = n;
  }

  async write(tx: Transaction) {
    for (const id of this.added) await tx.$executeRaw`INSERT INTO block_page VALUES (${id}, 0)`;
  }
}

describe('GroupCommit', () => {
  let url: string;
  let proxy: TcpProxy;
  let database: Database;
  let other: pg.Client;
  let commits: ReturnType<typeof start>;
  let published: EncodedChange[][];

  const start = (limits: Partial<GroupLimits>, queue = new WriteQueue()) => {
    const onCommitted = (committed: readonly MadeChange[]) => {
      published.push(committed.map(({ change }) => change));
      return Promise.resolve(NOTHING_APPLIED);
    };
    const commit = new GroupCommit(database, queue, onCommitted, {
      ...LIMITS,
      waitMs: 60_000,
      ...limits,
    });
    return {
      submit: <T>(change: SubmittedChange<T>) =>
        commit.submit(change, ORIGIN).then(
          ({ result, revision }) => ({ type: 'changed', result, revision }) as const,
          (reason: unknown) => ({ type: 'failed', reason }) as const,
        ),
    };
  };
  /** Creates a block page. The result is the number of block pages before. */
  const page = (id: number, type: 0 | 1 = 0): SubmittedChange<number> => ({
    need: (tables) => void tables.of(Pages.open),
    make: (tables) => {
      const table = tables.of(Pages.open);
      table.added.push(id);
      const result = table.count++;
      return { result, changes: [{ kind: 'blockPage', before: null, after: { id, type } }] };
    },
  });
  const nothing: SubmittedChange<null> = {
    need: () => undefined,
    make: () => ({ result: null, changes: [] }),
  };
  const refused = (reason: Error): SubmittedChange<never> => ({
    need: () => undefined,
    make: () => {
      throw reason;
    },
  });
  const pages = async () => {
    const { rows } = await other.query<{ id: number }>('SELECT id FROM block_page ORDER BY id');
    return rows.map(({ id }) => id);
  };
  /** The revisions of each transaction. */
  const groups = async () => {
    const { rows } = await other.query<{ revisions: number[] }>(
      `SELECT array_agg(revision::int ORDER BY revision) AS revisions FROM change
       GROUP BY xmin::text ORDER BY min(revision)`,
    );
    return rows.map(({ revisions }) => revisions);
  };
  /** Starts all of them while the head is locked, so that they wait together. */
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
    commits = start({ maxChanges: 32 });
  });
  afterEach(async () => {
    await other.end();
    await database.close();
    await proxy.stop();
    await dropDatabase(adminUrl, url);
  });

  it('makes waiting changes in one transaction, each with its own revision and on top of those before it', async () => {
    const made = await whileLocked(() => [1, 2, 3].map((id) => commits.submit(page(id))));
    expect(made).toMatchObject(
      [1, 2, 3].map((revision, i) => ({ type: 'changed', result: i, revision })),
    );
    expect(await groups()).toEqual([[1, 2, 3]]);
    expect(published.map((changes) => changes.map(({ revision }) => revision))).toEqual([
      [1, 2, 3],
    ]);
    const { rows } = await other.query('SELECT revision::int, digest FROM config_head');
    expect(rows).toEqual([{ revision: 3, digest: published[0]?.[2]?.digest }]);
  });

  it.each([
    { ends: 'their wait', waitMs: 1_000, code: '55P03', statementMs: 0 },
    { ends: 'statement_timeout', waitMs: 60_000, code: '57014', statementMs: 1_000 },
  ])(
    'fails all waiting changes together when a table stays locked until $ends ends, and lets go of the head',
    async ({ waitMs, code, statementMs }) => {
      const name = new URL(url).pathname.slice(1);
      await other.query(`ALTER DATABASE ${name} SET statement_timeout = ${statementMs}`);
      commits = start({ maxChanges: 32, waitMs });
      await other.query('BEGIN; LOCK TABLE block_page IN SHARE MODE');
      const startedMs = performance.now();
      const all = Promise.all([1, 2, 3, 4, 5].map((id) => commits.submit(page(id))));
      for (const outcome of await all) expect(outcome).toMatchObject({ reason: { code } });
      // Each by itself would have waited as long once more.
      expect(performance.now() - startedMs).toBeLessThan(4_000);
      expect((await commits.submit(nothing)).type).toBe('changed');
      await other.query('COMMIT');
    },
  );

  it('undoes only the change that throws: the others are committed, without a gap in the revisions', async () => {
    const refusal = new Error('refused');
    const [first, second, third, fourth] = await whileLocked(() => [
      commits.submit(page(1)),
      commits.submit(refused(refusal)),
      commits.submit(page(1)),
      commits.submit(page(4)),
    ]);
    expect(first).toMatchObject({ type: 'changed', revision: 1 });
    expect(second).toEqual({ type: 'failed', reason: refusal });
    expect(third).toMatchObject({ type: 'failed', reason: { code: '23505' } });
    expect(fourth).toMatchObject({ type: 'changed', result: 1, revision: 2 });
    expect([await pages(), await groups()]).toEqual([[1, 4], [[1, 2]]]);
  });

  it('takes no revision when every change failed', async () => {
    const made = await whileLocked(() =>
      ['first', 'second'].map((text) => commits.submit(refused(new Error(text)))),
    );
    expect(made).toMatchObject([
      { reason: { message: 'first' } },
      { reason: { message: 'second' } },
    ]);
    expect([await groups(), published.flat()]).toEqual([[], []]);
  });

  it('commits at most `maxChanges` together, in the order in which they were submitted', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => i);
    const made = await whileLocked(() => ids.map((id) => commits.submit(page(id))));
    expect(made).toMatchObject(ids.map((id) => ({ result: id, revision: id + 1 })));
    expect((await groups()).map(({ length }) => length)).toEqual([32, 8]);
  });

  it('commits large changes with few others or alone, in the order in which they were submitted', async () => {
    const limited = start({ maxItems: 10 });
    const sizes = [6, 3, 1, 1, 100, 2, 9, undefined, undefined];
    const large = sizes.map((items, id) =>
      items === undefined ? page(id) : { ...page(id), items },
    );
    const made = await whileLocked(() => large.map((change) => limited.submit(change)));
    expect(made).toMatchObject(sizes.map((_, id) => ({ result: id, revision: id + 1 })));
    expect(await groups()).toEqual([[1, 2, 3], [4], [5], [6], [7, 8], [9]]);
  });

  it('removes the queue tasks of changes that a group has made', async () => {
    const queue = new WriteQueue();
    let groups = 0;
    const onCommitted = () => {
      groups++;
      return Promise.resolve(NOTHING_APPLIED);
    };
    const limits = { ...LIMITS, maxChanges: 2 };
    const busy = new GroupCommit(database, queue, onCommitted, limits);
    let ends = false;
    const writer = async () => {
      while (!ends) await busy.submit(nothing, ORIGIN);
    };
    const writers = Array.from({ length: 6 }, writer);
    await vi.waitFor(() => expect(groups).toBeGreaterThan(40), { timeout: 60_000 });
    const before = groups;
    const waited = await queue.run(() => Promise.resolve(groups - before), new Deadline(60_000));
    ends = true;
    await Promise.all(writers);
    expect(waited).toBeLessThanOrEqual(6);
  });

  it('fails a change that is not started in time, and never makes it', async () => {
    const queue = new WriteQueue();
    const impatient = start({ waitMs: 30 }, queue);
    const [first, late] = await whileLocked(() => [
      start({}, queue).submit(page(1)),
      impatient.submit(page(2)),
    ]);
    expect(first).toMatchObject({ type: 'changed' });
    expect(late).toMatchObject({ type: 'failed', reason: { code: '55P03' } });
    await impatient.submit(page(3));
    expect(await pages()).toEqual([1, 3]);
  });

  it('commits nothing when a change cannot be logged', async () => {
    // The error of V8 when the JSON of a change would exceed the maximum length of a string.
    const type = {
      valueOf: () => 0,
      toJSON: () => {
        throw new RangeError('Invalid string length');
      },
    } as unknown as 0;
    const unloggable = page(1, type);
    expect(await commits.submit(unloggable)).toMatchObject({ type: 'failed' });
    expect([await pages(), published]).toEqual([[], []]);
    expect(await commits.submit(page(2))).toMatchObject({ revision: 1 });
  });

  it('fails all changes with the same reason when the COMMIT does not reach PostgreSQL', async () => {
    proxy.breakAt('COMMIT', 'before');
    const made = await whileLocked(() => [
      commits.submit(page(1)),
      commits.submit(refused(new Error('depends on an undone change'))),
      commits.submit(page(2)),
    ]);
    const reasons = new Set(made.map((one) => one.type === 'failed' && one.reason));
    expect(reasons.size).toBe(1);
    expect(String([...reasons][0])).toMatch(/Connection terminated|ECONNRESET/);
    expect([await pages(), published]).toEqual([[], []]);
    expect(await commits.submit(page(1))).toMatchObject({ revision: 1 });
  });

  it('returns the committed outcomes when the answer to the COMMIT is lost', async () => {
    proxy.breakAt('COMMIT', 'after');
    const made = await whileLocked(() => [
      commits.submit(page(1)),
      commits.submit(refused(new Error('no'))),
      commits.submit(page(2)),
    ]);
    expect(made.map(({ type }) => type)).toEqual(['changed', 'failed', 'changed']);
    expect([await pages(), await groups()]).toEqual([[1, 2], [[1, 2]]]);
    expect(published.flat()).toHaveLength(2);
  });
});
