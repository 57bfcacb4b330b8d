import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { startControlPlane } from '../testing/control-plane.js';
import { playBasicCalls } from '../testing/basic-calls.js';
import { migrate } from './migrate.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MIGRATIONS = join(ROOT, 'prisma/migrations');
const PASSWORD = 'password of the tests';

/** What the role of control planes may not do. */
const REFUSED = [
  'CREATE TABLE another (id integer)',
  'CREATE SCHEMA another',
  'CREATE ROLE another',
  'CREATE DATABASE another',
  'DROP TABLE profile',
  'TRUNCATE profile',
  'ALTER TABLE profile ADD another integer',
  'DROP INDEX profile_page_id_idx',
  'CREATE INDEX ON profile (page_id)',
  'CREATE TRIGGER another BEFORE INSERT ON profile FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
  "INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('1', '1', '1')",
  'DELETE FROM _prisma_migrations',
  "UPDATE schema_compatibility SET min_migration = '1'",
  'SELECT rolpassword FROM pg_authid',
  "COPY profile TO PROGRAM 'true'",
  "COPY profile TO '/tmp/profile'",
  "SELECT pg_read_file('PG_VERSION')",
  'ALTER SYSTEM SET work_mem = 64',
  'SELECT pg_reload_conf()',
  'CREATE EXTENSION file_fdw',
  'ALTER TABLE profile DISABLE TRIGGER ALL',
];

let number = 0;
let admin: pg.Client;
let database: string;
/** A role that owns the database and makes other roles, as providers of PostgreSQL give it. */
let owner: string;
let runtime: string;
let folder: string;

const urlOf = (user: string | null, password = PASSWORD): string => {
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${database}`;
  if (user !== null) Object.assign(url, { username: user, password });
  return url.href;
};

async function sql(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}

beforeEach(async () => {
  const name = `${process.pid}_${++number}`;
  [database, owner, runtime] = [`roles_${name}`, `owner_${name}`, `runtime_${name}`];
  admin = new pg.Client(inject('databaseUrl'));
  await admin.connect();
  await admin.query(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD '${PASSWORD}'`);
  await admin.query(`CREATE DATABASE ${database} OWNER ${owner}`);
  folder = await mkdtemp(join(tmpdir(), 'weir-roles-'));
});

afterEach(async () => {
  await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  await admin
    .query(`REVOKE SET ON PARAMETER session_replication_role FROM ${runtime}`)
    .catch(() => undefined);
  await admin.query(`DROP ROLE IF EXISTS ${runtime}`);
  await admin.query(`DROP ROLE ${owner}`);
  await admin.end();
  await rm(folder, { recursive: true });
});

describe('migrate with a role of the owner and one of the control planes', () => {
  const run = (ownerUrl = urlOf(owner), migrations = MIGRATIONS, databaseUrl = urlOf(runtime)) =>
    migrate({ databaseUrl, ownerUrl, folder: migrations });

  it.each([
    ['the owner of the database', () => urlOf(owner)],
    ['a superuser', () => urlOf(null)],
  ])('run by %s makes a role that can log in and has no attribute', async (_who, ownerUrl) => {
    await run(ownerUrl());
    const [role] = await sql(
      urlOf(runtime),
      `SELECT *, pg_has_role(oid, 'pg_write_all_data', 'MEMBER') AS "writesAll"
       FROM pg_roles WHERE rolname = current_user`,
    );
    expect(role).toMatchObject({
      rolcanlogin: true,
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
      writesAll: false,
    });
  });

  it('makes a role that may change rows only', async () => {
    await run(urlOf(null));
    for (const statement of REFUSED) {
      await expect(sql(urlOf(runtime), statement), statement).rejects.toThrow(
        /permission denied|must be owner|must have/i,
      );
    }
  });

  it.each([
    ['the owner of the database', () => urlOf(owner)],
    ['a superuser', () => urlOf(null)],
  ])('run by %s gives the role all that a control plane needs', async (_who, ownerUrl) => {
    await run(ownerUrl());
    const controlPlane = await startControlPlane({
      root: ROOT,
      folder,
      databaseUrl: urlOf(runtime),
      redisUrl: inject('redisUrl'),
    });
    try {
      expect(await playBasicCalls(controlPlane)).toEqual([]);
      const notices: (string | undefined)[] = [];
      const client = new pg.Client(urlOf(runtime));
      await client.connect();
      client.on('notice', ({ message }) => notices.push(message));
      await client.query('ANALYZE profile');
      await client.end();
      expect(notices).toEqual([]);
    } finally {
      await controlPlane.process.terminate();
    }
  });

  it('opens the tables of later migrations to the role', async () => {
    await run();
    const later = join(folder, 'migrations');
    await cp(MIGRATIONS, later, { recursive: true });
    await mkdir(join(later, '20990101000000_later'));
    await writeFile(
      join(later, '20990101000000_later/migration.sql'),
      'CREATE TABLE later (id bigserial)',
    );
    await run(urlOf(owner), later);
    expect(await sql(urlOf(runtime), 'INSERT INTO later DEFAULT VALUES RETURNING id')).toEqual([
      { id: '1' },
    ]);
  });

  it('opens tables that a restored dump makes anew', async () => {
    await run();
    await sql(urlOf(owner), 'DROP TABLE job_run; CREATE TABLE job_run (name text)');
    expect(await sql(urlOf(runtime), 'SELECT name FROM job_run')).toEqual([]);
  });

  it('opens tables that were there before the role', async () => {
    await migrate({ databaseUrl: urlOf(owner), folder: MIGRATIONS });
    await expect(sql(urlOf(runtime), 'SELECT FROM profile')).rejects.toThrow('authentication');
    expect(await run()).toEqual([]);
    expect(await sql(urlOf(runtime), 'SELECT FROM profile')).toEqual([]);
  });

  it('gives the role a changed password, and changes nothing while its own is right', async () => {
    await run();
    const changed = urlOf(runtime, 'another');
    await expect(sql(changed, 'SELECT 1')).rejects.toThrow('authentication');
    await run(undefined, undefined, changed);
    expect(await sql(changed, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const verifier = () =>
      admin.query(`SELECT rolpassword FROM pg_authid WHERE rolname = '${runtime}'`);
    const { rows } = await verifier();
    await run(undefined, undefined, changed);
    expect((await verifier()).rows).toEqual(rows);
  });

  it('uses a role that somebody else has made, although the owner may not change it', async () => {
    await admin.query(`CREATE ROLE ${runtime} LOGIN PASSWORD '${PASSWORD}'`);
    await run();
    expect(await sql(urlOf(runtime), 'SELECT FROM profile')).toEqual([]);
  });

  it('says in one line that the owner may not make the role, and changes nothing', async () => {
    await admin.query(`ALTER ROLE ${owner} NOCREATEROLE`);
    await expect(run()).rejects.toThrow(
      `the role "${runtime}" cannot get its rights: permission denied to create role`,
    );
    expect(await sql(urlOf(owner), "SELECT to_regclass('profile') AS profile")).toEqual([
      { profile: null },
    ]);
  });
});

describe('migrate with one role', () => {
  it('makes no other role and grants nothing', async () => {
    // Other tests make roles meanwhile.
    const madeByOwner = `SELECT roleid::regrole FROM pg_auth_members WHERE member = '${owner}'::regrole`;
    await migrate({ databaseUrl: urlOf(owner), folder: MIGRATIONS });
    await migrate({ databaseUrl: urlOf(owner), ownerUrl: urlOf(owner), folder: MIGRATIONS });
    expect(await sql(urlOf(null), madeByOwner)).toEqual([]);
    expect(await sql(urlOf(owner), 'SELECT FROM pg_default_acl')).toEqual([]);
    expect(
      await sql(
        urlOf(owner),
        "SELECT FROM pg_class WHERE relname = 'profile' AND relacl IS NOT NULL",
      ),
    ).toEqual([]);
  });
});
