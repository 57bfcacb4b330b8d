import { parseHashKey } from '@weir/dns-name';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { DatabaseCheck, SCHEMA_VERSION } from './database-check.js';
import {
  createEmptyDatabase,
  createFreshDatabase,
  dropDatabase,
} from '../testing/fresh-database.js';
import { openPool } from '../testing/open-pool.js';

const NEXT = '20990101000000_next';

describe('the check of the schema', () => {
  let databaseUrl: string;
  let pool: pg.Pool;
  let logged: string[];

  const use = (url: string) => {
    databaseUrl = url;
    pool = openPool({ connectionString: url });
    // The server ends its connections when the database is dropped.
    pool.on('error', () => undefined);
  };
  const check = (version = SCHEMA_VERSION, waitMs = 0) =>
    new DatabaseCheck({
      ...{ pool, version, waitMs, key: parseHashKey('0'.repeat(32)) },
      onWait: () => undefined,
      log: pino({}, { write: (line) => void logged.push(line) }),
    });
  const apply = (name: string) =>
    pool.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ($1, $1, $1, now())',
      [name],
    );
  const allowFrom = (name: string) =>
    pool.query('UPDATE schema_compatibility SET min_migration = $1', [name]);

  beforeEach(async () => {
    logged = [];
    use(await createFreshDatabase(inject('databaseUrl')));
  });
  afterEach(async () => {
    await pool.end();
    await dropDatabase(inject('databaseUrl'), databaseUrl);
  });

  it('accepts the schema of its own release, and does not query again', async () => {
    const one = check();
    await one.onModuleInit();
    await pool.query('DROP TABLE _prisma_migrations');
    expect(await one.problem()).toBeNull();
    expect(logged).toEqual([]);
  });

  it('accepts a newer schema that allows this release', async () => {
    await apply(NEXT);
    expect(await check().problem()).toBeNull();
  });

  it('does not wait when a newer schema does not allow this release', async () => {
    await apply(NEXT);
    await allowFrom(NEXT);
    const reason =
      `the database is for releases that know migration ${NEXT}, ` +
      `the newest one here is ${SCHEMA_VERSION}: use a newer release`;
    await expect(check(SCHEMA_VERSION, 3_600_000).onModuleInit()).rejects.toThrow(reason);
    expect(await check().problem()).toBe(reason);
    await expect(check(NEXT).onModuleInit()).resolves.toBeUndefined();
  });

  it('reports for an older schema the current and the required migration, and the command', async () => {
    const reason =
      `the database is at migration ${SCHEMA_VERSION}, older than this release, which needs ${NEXT}: ` +
      'run node tools/dist/migrate.js';
    await expect(check(NEXT).onModuleInit()).rejects.toThrow(reason);
    expect(await check(NEXT).problem()).toBe(reason);
  });

  it('reports the command for an empty database', async () => {
    await pool.end();
    await dropDatabase(inject('databaseUrl'), databaseUrl);
    use(await createEmptyDatabase(inject('databaseUrl')));
    await expect(check().onModuleInit()).rejects.toThrow(
      'the database has no schema yet: run node tools/dist/migrate.js',
    );
  });

  it('does not count a migration that is not finished or was rolled back', async () => {
    await apply(NEXT);
    await pool.query("UPDATE _prisma_migrations SET finished_at = NULL WHERE id LIKE '2099%'");
    expect(await check(NEXT).problem()).toMatch(/older than this release/);
    await pool.query('UPDATE _prisma_migrations SET finished_at = now(), rolled_back_at = now()');
    expect(await check().problem()).toMatch(/no schema yet/);
  });

  it('waits for pending migrations, and logs that once', async () => {
    const waiting = check(NEXT, 3_600_000).onModuleInit();
    await expect.poll(() => logged.length).toBe(1);
    expect(JSON.parse(logged[0])).toMatchObject({
      msg: 'waiting for migrations',
      reason: expect.stringContaining(`needs ${NEXT}`),
      atMostSeconds: 3600,
    });
    await apply(NEXT);
    await waiting;
    expect(JSON.parse(logged[1])).toMatchObject({ msg: 'the database is migrated', schema: NEXT });
  });

  it('waits for the role of the control plane and for its rights, which migrations make', async () => {
    const admin = pool;
    const role = `schema_check_${process.pid}`;
    const url = new URL(databaseUrl);
    Object.assign(url, { username: role, password: 'password' });
    pool = new pg.Pool({ connectionString: url.href });
    try {
      const waiting = check(SCHEMA_VERSION, 3_600_000).onModuleInit();
      await expect
        .poll(() => logged.join())
        .toContain('PostgreSQL refuses DATABASE_URL: password authentication failed');
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'password'`);
      await expect.poll(() => logged.join()).toContain('permission denied for table');
      await admin.query(`
        GRANT SELECT, UPDATE ON config_head TO ${role};
        GRANT SELECT ON _prisma_migrations, schema_compatibility TO ${role}`);
      await waiting;
    } finally {
      await pool.end();
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      pool = admin;
    }
  });

  it('throws after its timeout', async () => {
    await expect(check(NEXT, 5_000).onModuleInit()).rejects.toThrow(/older than this release/);
    expect(logged).toHaveLength(1);
  });

  it('throws after its timeout when the database does not exist', async () => {
    await pool.end();
    pool = new pg.Pool({ connectionString: `${databaseUrl}_absent` });
    await expect(check(SCHEMA_VERSION, 0).onModuleInit()).rejects.toThrow(
      /_absent" does not exist/,
    );
  });

  it('checks a database that is out of reach later', async () => {
    await pool.end();
    pool = new pg.Pool({ connectionString: 'postgresql://127.0.0.1:1/none' });
    const one = check(SCHEMA_VERSION, 3_600_000);
    await one.onModuleInit();
    await expect(one.problem()).rejects.toThrow('ECONNREFUSED');
  });
});
