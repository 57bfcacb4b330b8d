import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate } from './migrate.js';

const REAL_MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const FIRST = '20260101000000_first';
const SECOND = '20260102000000_second';

describe('migrate', () => {
  let databaseUrl: string;
  let folder: string;
  let client: pg.Client;
  let number = 0;

  const addMigration = async (name: string, sql: string) => {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'migration.sql'), sql);
  };
  const run = () => migrate({ databaseUrl, folder });
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
    folder = await mkdtemp(join(tmpdir(), 'weir-migrations-'));
    client = new pg.Client(databaseUrl);
    await client.connect();
    await addMigration(FIRST, 'CREATE TABLE one (id integer); INSERT INTO one VALUES (1);');
  });

  afterEach(async () => {
    await client.end();
    await rm(folder, { recursive: true });
  });

  it('applies what is pending, in the order of the names, and then nothing', async () => {
    await addMigration(SECOND, 'ALTER TABLE one ADD two integer');
    expect(await run()).toEqual([FIRST, SECOND]);
    expect(await run()).toEqual([]);
    expect(await rows('SELECT id, two FROM one')).toEqual([[1, null]]);
  });

  it('notes each as prisma migrate does: sha256 of the file, finished, one step', async () => {
    await run();
    expect(
      await rows(
        'SELECT migration_name, checksum, finished_at IS NOT NULL, rolled_back_at, applied_steps_count FROM _prisma_migrations',
      ),
    ).toEqual([
      [FIRST, '0abbe76e4aea18bd65ee7c02f25031f880f3ee9a3b2f770fafd23527fec8d33f', true, null, 1],
    ]);
  });

  it('undoes a migration that fails, keeps those before it, and says which and why', async () => {
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

  it('refuses a database with a migration that it does not know', async () => {
    await addMigration(SECOND, 'SELECT 1');
    await run();
    await rm(join(folder, SECOND), { recursive: true });
    await expect(run()).rejects.toThrow(`migration ${SECOND} is in the database but not in this`);
  });

  it('refuses a database with a migration that prisma migrate left unfinished', async () => {
    await run();
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
    await expect(run()).rejects.toThrow(`migration ${FIRST} failed earlier`);
  });

  it('applies again what prisma migrate marked as rolled back', async () => {
    await run();
    await client.query('DROP TABLE one; UPDATE _prisma_migrations SET rolled_back_at = now()');
    expect(await run()).toEqual([FIRST]);
  });

  it('lets only one of several work when they run at once', async () => {
    const applied = await Promise.all([run(), run(), run()]);
    expect(applied.flat()).toEqual([FIRST]);
  });

  it('says in one line that the database is out of reach', async () => {
    const unreachable = { databaseUrl: 'postgresql://weir@127.0.0.1:1/weir', folder };
    await expect(migrate(unreachable)).rejects.toThrow(
      /^the database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1 \(DATABASE_URL\)$/,
    );
  });

  it("applies this version's migrations", async () => {
    await rm(folder, { recursive: true });
    await cp(REAL_MIGRATIONS, folder, { recursive: true });
    await run();
    expect(await rows('SELECT revision, digest FROM config_head')).toEqual([
      ['0', '0000000000000000'],
    ]);
  });
});
