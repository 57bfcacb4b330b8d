import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate, type MigrateOptions, RUN_LOCK_KEY } from './migrate.js';
import { readStatus } from './migrations.js';

const REAL_MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const FIRST = '20260101000000_first';
const SECOND = '20260102000000_second';
const THIRD = '20260103000000_third';

describe('migrate', () => {
  let databaseUrl: string;
  let folder: string;
  let client: pg.Client;
  let lines: string[];
  let number = 0;

  const addMigration = async (name: string, sql: string) => {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'migration.sql'), sql);
  };
  const run = (lockOptions: MigrateOptions['lockOptions'] = {}) =>
    migrate({ databaseUrl, folder, lockOptions, log: (line) => void lines.push(line) });
  const rows = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows;

  beforeEach(async () => {
    const admin = new pg.Client(inject('databaseUrl'));
    await admin.connect();
    const name = `migrate_${process.pid}_${++number}`;
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const url = new URL(inject('databaseUrl'));
    url.pathname = `/${name}`;
    databaseUrl = url.href;
    lines = [];
    folder = await mkdtemp(join(tmpdir(), 'weir-migrations-'));
    client = new pg.Client(databaseUrl);
    await client.connect();
    await addMigration(FIRST, 'CREATE TABLE one (id integer); INSERT INTO one VALUES (1);');
  });

  afterEach(async () => {
    await client.end();
    await rm(folder, { recursive: true });
  });

  it('applies pending migrations in the order of their names, and nothing the second time', async () => {
    await addMigration(SECOND, 'ALTER TABLE one ADD two integer');
    expect(await run()).toEqual([FIRST, SECOND]);
    expect(await run()).toEqual([]);
    expect(await rows('SELECT id, two FROM one')).toEqual([[1, null]]);
  });

  it('records each migration as prisma migrate does: SHA-256 of the file, finished, one step', async () => {
    await run();
    expect(
      await rows(
        `SELECT migration_name, checksum, finished_at IS NOT NULL, rolled_back_at, applied_steps_count
         FROM _prisma_migrations`,
      ),
    ).toEqual([
      [FIRST, '0abbe76e4aea18bd65ee7c02f25031f880f3ee9a3b2f770fafd23527fec8d33f', true, null, 1],
    ]);
  });

  it('rolls back a migration that fails, keeps those before it, and reports which one failed and why', async () => {
    await addMigration(SECOND, 'CREATE TABLE two (id integer); SELECT * FROM missing;');
    await expect(run()).rejects.toThrow(
      `migration ${SECOND} failed and was undone: relation "missing" does not exist`,
    );
    expect(await rows("SELECT to_regclass('one')::text, to_regclass('two')::text")).toEqual([
      ['one', null],
    ]);
    await addMigration(SECOND, 'CREATE TABLE two (id integer)');
    expect(await run()).toEqual([SECOND]);
  });

  it('refuses a migration that was changed after it was applied', async () => {
    await run();
    await addMigration(FIRST, 'CREATE TABLE other (id integer)');
    await expect(run()).rejects.toThrow(`migration ${FIRST} was changed after it was applied`);
  });

  it('refuses a database that has an unknown migration among the known ones', async () => {
    await addMigration(SECOND, 'SELECT 1');
    await addMigration(THIRD, 'SELECT 1');
    await run();
    await rm(join(folder, SECOND), { recursive: true });
    await expect(run()).rejects.toThrow(`migration ${SECOND} is in the database but not in this`);
  });

  it('refuses a pending migration that sorts before an applied one', async () => {
    await addMigration(THIRD, 'SELECT 1');
    await run();
    await addMigration(SECOND, 'SELECT 1');
    await expect(run()).rejects.toThrow(
      `migration ${SECOND} comes before ${THIRD}, which is applied already: give it a later name`,
    );
  });

  it('logs each step, even for a file that is only a comment', async () => {
    await addMigration(SECOND, '-- Nothing reads two any more.');
    await run();
    expect(lines.map((line) => line.replace(/\d+ ms/, 'N ms'))).toEqual([
      `applying ${FIRST} (1 of 2)`,
      `applied ${FIRST} in N ms`,
      `applying ${SECOND} (2 of 2)`,
      `applied ${SECOND} in N ms`,
      `the database is up to date: ${SECOND}`,
    ]);
  });

  it('finds what it applied, and may take long, whatever times and dates the database has set', async () => {
    const name = new URL(databaseUrl).pathname.slice(1);
    await client.query(`
      ALTER DATABASE ${name} SET DateStyle = 'German, DMY';
      ALTER DATABASE ${name} SET statement_timeout = '200ms'`);
    await addMigration(SECOND, 'SELECT pg_sleep(0.4)');
    expect(await run()).toEqual([FIRST, SECOND]);
    expect(await run()).toEqual([]);
    const time = expect.stringMatching(/^applied  \S+  2\d{3}-/);
    expect((await readStatus(databaseUrl, folder)).lines).toEqual([time, time]);
  });

  it('refuses a database with a migration that prisma migrate left unfinished', async () => {
    await run();
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
    await expect(run()).rejects.toThrow(`migration ${FIRST} failed earlier`);
  });

  it('applies a migration again that prisma migrate marked as rolled back', async () => {
    await run();
    await client.query('DROP TABLE one; UPDATE _prisma_migrations SET rolled_back_at = now()');
    expect(await run()).toEqual([FIRST]);
  });

  it('applies each migration once when several runs start at the same time', async () => {
    const applied = await Promise.all([run(), run(), run()]);
    expect(applied.flat()).toEqual([FIRST]);
  });

  describe('after a newer release', () => {
    const byNewerRelease = async (minMigration: string) => {
      await addMigration(
        SECOND,
        `CREATE TABLE schema_compatibility AS SELECT '${minMigration}' AS min_migration`,
      );
      await run();
      await rm(join(folder, SECOND), { recursive: true });
    };

    it('does not change a database that this release can use', async () => {
      await byNewerRelease(FIRST);
      expect(await run()).toEqual([]);
      expect(lines.at(-1)).toBe(`the database is up to date: ${SECOND}, of a newer release`);
    });

    it('refuses a database that this release cannot use', async () => {
      await byNewerRelease(SECOND);
      await expect(run()).rejects.toThrow(
        `the database is for releases that know migration ${SECOND}, ` +
          `the newest one here is ${FIRST}: use a newer release`,
      );
    });
  });

  describe('while others use a table', () => {
    let other: pg.Client;

    beforeEach(async () => {
      await run();
      await addMigration(SECOND, 'CREATE TABLE two (id integer); ALTER TABLE one ADD two integer');
      other = new pg.Client(databaseUrl);
      await other.connect();
      await other.query('BEGIN; SELECT FROM one');
    });

    afterEach(() => other.end());

    it('lets them go first, logs it, and tries again', async () => {
      const running = run({ lockTimeoutMs: 50, lockAttempts: 1_000 });
      await expect
        .poll(() => lines)
        .toContain(
          'attempt 2 of 1000: a table is in use (canceling statement due to lock timeout), next attempt in 50 ms',
        );
      await other.query('COMMIT');
      expect(await running).toEqual([SECOND]);
    });

    it('gives up after the configured attempts, and changes nothing', async () => {
      await expect(run({ lockTimeoutMs: 50, lockAttempts: 2 })).rejects.toThrow(
        `migration ${SECOND} failed and was undone: a table that it changes was in use in each of 2 attempts`,
      );
      expect(await rows("SELECT to_regclass('two')")).toEqual([[null]]);
      expect(await rows('SELECT migration_name FROM _prisma_migrations')).toEqual([[FIRST]]);
    });
  });

  describe('while another run works', () => {
    beforeEach(async () => {
      await client.query('SELECT pg_advisory_lock($1)', [RUN_LOCK_KEY]);
    });

    it('waits for the end of that run', async () => {
      const running = run();
      await expect
        .poll(() => lines)
        .toEqual(['another run of migrate works on this database: waiting for its end']);
      expect(await rows("SELECT to_regclass('one')")).toEqual([[null]]);
      await client.query('SELECT pg_advisory_unlock($1)', [RUN_LOCK_KEY]);
      expect(await running).toEqual([FIRST]);
    });

    it('gives up after the maximum wait', async () => {
      await expect(run({ runWaitMs: 300 })).rejects.toThrow(
        'another run of migrate has worked on this database for more than 0.3 s',
      );
    });
  });

  describe('with a file without a transaction', () => {
    const INDEX = `-- transaction: none
-- Anew after a run that broke off; what it leaves is of no use.
DROP INDEX CONCURRENTLY IF EXISTS one_id_key;
CREATE UNIQUE INDEX CONCURRENTLY one_id_key
  ON one (id);
`;

    it('creates an index while others write', async () => {
      await run();
      const other = new pg.Client(databaseUrl);
      await other.connect();
      await other.query('BEGIN; INSERT INTO one VALUES (2)');
      await addMigration(SECOND, INDEX);
      const running = run();
      // Its build waits for that transaction, and no write waits for the build.
      await expect
        .poll(() =>
          rows(
            `SELECT wait_event_type FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'weir-migrate'`,
          ),
        )
        .toEqual([['Lock']]);
      await client.query('INSERT INTO one VALUES (3)');
      await other.query('COMMIT');
      await other.end();
      expect(await running).toEqual([SECOND]);
      expect(await rows('SELECT indisvalid FROM pg_index')).toContainEqual([true]);
    });

    it('starts a failed file again in the next run', async () => {
      await run();
      await client.query('INSERT INTO one VALUES (1)');
      await addMigration(SECOND, INDEX);
      await expect(run()).rejects.toThrow(
        `migration ${SECOND} failed; the next run begins it anew: could not create unique index "one_id_key"`,
      );
      const valid = () =>
        rows("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('one_id_key')");
      expect(await valid()).toEqual([[false]]);
      await client.query('DELETE FROM one');
      expect(await run()).toEqual([SECOND]);
      expect(await valid()).toEqual([[true]]);
    });
  });

  it('reports that the connection broke during a migration, and the next run continues', async () => {
    await addMigration(SECOND, 'SELECT pg_terminate_backend(pg_backend_pid())');
    await expect(run()).rejects.toThrow(
      `the connection broke in migration ${SECOND}; run this again, it goes on from where it stands: `,
    );
    await addMigration(SECOND, 'SELECT 1');
    expect(await run()).toEqual([SECOND]);
  });

  it('reports in one line that the database cannot be reached', async () => {
    const unreachable = { databaseUrl: 'postgresql://weir@127.0.0.1:1/weir', folder };
    await expect(migrate(unreachable)).rejects.toThrow(
      /^the database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1 \(DATABASE_URL\)$/,
    );
  });

  it("applies this release's migrations", async () => {
    await migrate({ databaseUrl, folder: REAL_MIGRATIONS });
    expect(await rows('SELECT revision, digest FROM config_head')).toEqual([
      ['0', '0000000000000000'],
    ]);
  });

  describe('readStatus', () => {
    const status = () => readStatus(databaseUrl, folder);

    it('reports everything as pending for an empty database, and changes nothing', async () => {
      expect(await status()).toEqual({ lines: [`pending  ${FIRST}`], isUpToDate: false });
      expect(await rows("SELECT to_regclass('_prisma_migrations')")).toEqual([[null]]);
    });

    it('reports applied migrations, and those of a newer release', async () => {
      await addMigration(SECOND, 'SELECT 1');
      await run();
      await rm(join(folder, SECOND), { recursive: true });
      const { lines: told, isUpToDate } = await status();
      expect(told.map((line) => line.replace(/\d{4}-\S+Z/, 'TIME'))).toEqual([
        `applied  ${FIRST}  TIME`,
        `newer    ${SECOND}  TIME`,
      ]);
      expect(isUpToDate).toBe(true);
    });

    it('does not wait for a run in progress', async () => {
      await client.query('SELECT pg_advisory_lock($1)', [RUN_LOCK_KEY]);
      expect((await status()).isUpToDate).toBe(false);
    });
  });
});
