import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readMigrations } from '../migrate/migration-files.js';
import { checkMigration } from './check-migration.js';

const FIRST = '20260101000000_first';
const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

const check = (sql: string) => checkMigration(sql, [FIRST]);
const contract = (sql: string, since = FIRST, set = FIRST) =>
  check(
    `-- contract: since ${since}\nUPDATE schema_compatibility SET min_migration = '${set}';\n${sql};`,
  );

describe('checkMigration', () => {
  it.each([
    'CREATE TABLE t (id integer PRIMARY KEY, p integer NOT NULL REFERENCES profile (id)); CREATE INDEX i ON t (p)',
    'CREATE TABLE t (p integer); ALTER TABLE t ALTER p SET NOT NULL, ADD CHECK (p > 0); UPDATE t SET p = 1',
    '-- Nothing but a name for what this release does not use any more.',
    'ALTER TABLE profile ADD note text',
    "ALTER TABLE profile ADD note text NOT NULL DEFAULT ''",
    "ALTER TABLE profile ADD notes text[] NOT NULL DEFAULT '{}', ADD more integer[] DEFAULT ARRAY[]::integer[]",
    'ALTER TABLE profile ADD since timestamptz NOT NULL DEFAULT now(), ADD until timestamptz DEFAULT CURRENT_TIMESTAMP',
    'ALTER TABLE profile ALTER page_id SET DEFAULT 1, ALTER page_id DROP NOT NULL, ALTER note SET STORAGE EXTERNAL',
    'ALTER TABLE profile ADD CONSTRAINT c CHECK (id > 0) NOT VALID',
    'ALTER TABLE profile ADD CONSTRAINT f FOREIGN KEY (page_id) REFERENCES block_page (id) NOT VALID',
    'ALTER TABLE profile VALIDATE CONSTRAINT c',
    'ALTER TABLE profile ENABLE ALWAYS TRIGGER t',
    `-- locks: few rows
     ALTER TABLE profile ADD n integer GENERATED ALWAYS AS (id) STORED; ALTER TABLE profile ALTER n DROP EXPRESSION`,
    'ALTER TABLE profile ADD CONSTRAINT u UNIQUE USING INDEX i',
    "ALTER TYPE some_type ADD VALUE 'log'",
    "CREATE TYPE colour AS ENUM ('red'); CREATE FUNCTION f() RETURNS integer LANGUAGE sql RETURN 1",
    'GRANT SELECT ON profile TO PUBLIC',
    'COMMENT ON TABLE profile IS NULL; INSERT INTO block_page (id, type) VALUES (1, 0)',
    // One row.
    'ALTER TABLE config_head ADD a uuid NOT NULL DEFAULT gen_random_uuid() CHECK (a IS NOT NULL)',
    'UPDATE config_head SET revision = 1',
  ])('lets expand: %s', async (sql) => {
    expect(await check(sql)).toEqual([]);
  });

  it.each([
    ['DROP TABLE profile', 'drops profile'],
    ['DROP TABLE public.profile, schedule', 'drops profile, schedule'],
    ['DROP TYPE some_type', 'drops some_type'],
    ['DROP FUNCTION is_id_set(integer[])', 'drops is_id_set'],
    ['DROP SCHEMA weir', 'drops weir'],
    ['DROP INDEX profile_page_id_idx', 'drops profile_page_id_idx'],
    ['ALTER TABLE profile DROP page_id', 'drops the column profile.page_id'],
    ['ALTER TABLE profile DROP CONSTRAINT c', 'drops the constraint c of profile'],
    ['ALTER TABLE profile ALTER page_id DROP DEFAULT', 'drops the default of profile.page_id'],
    ['ALTER TABLE profile ALTER page_id TYPE bigint', 'changes the type of profile.page_id'],
    ['ALTER TABLE profile ALTER page_id SET NOT NULL', 'forbids null in profile.page_id'],
    ['ALTER TABLE profile ALTER n DROP EXPRESSION', 'no longer computes profile.n'],
    [
      'ALTER TABLE profile ADD CONSTRAINT n NOT NULL page_id',
      'adds the constraint n to profile, which forbids null',
    ],
    [
      'ALTER TABLE profile ADD note text NOT NULL',
      'adds profile.note, which must not be null and has no default',
    ],
    [
      'ALTER TABLE config_head ADD note text NOT NULL',
      'adds config_head.note, which must not be null and has no default',
    ],
    ['ALTER TABLE profile RENAME page_id TO page', 'renames page_id to page'],
    ['ALTER TABLE profile RENAME TO profiles', 'renames profile to profiles'],
    ["ALTER TYPE some_type RENAME VALUE 'deny' TO 'block'", 'renames the value deny of a type'],
    [
      'ALTER TABLE profile DISABLE TRIGGER ALL',
      'does something to profile that the check does not know',
    ],
    [
      'CREATE OR REPLACE FUNCTION f() RETURNS integer LANGUAGE sql RETURN 1',
      'replaces the function f',
    ],
    ['DELETE FROM schedule', 'deletes rows of schedule'],
    ['REVOKE ALL ON profile FROM PUBLIC', 'takes a right away'],
    ['TRUNCATE schedule', 'empties a table'],
    ['DO $$ BEGIN DROP TABLE profile; END $$', 'runs a block of code, which cannot be checked'],
    ['LOCK TABLE profile', 'is a LockStmt, which the check does not know'],
  ])('refuses to contract: %s', async (sql, text) => {
    expect(await check(sql)).toEqual([
      `line 1 ${text}: the previous release may need it; ` +
        'when no release does any more, say "-- contract: since <migration>"',
    ]);
    expect(await contract(sql)).toEqual([]);
  });

  it.each([
    ['CREATE INDEX i ON profile (page_id)', 'builds the index i without CONCURRENTLY'],
    [
      'ALTER TABLE profile ADD CONSTRAINT c CHECK (id > 0)',
      'adds the constraint c to profile without NOT VALID',
    ],
    [
      'ALTER TABLE profile ADD CONSTRAINT f FOREIGN KEY (page_id) REFERENCES block_page (id)',
      'adds the constraint f to profile without NOT VALID',
    ],
    [
      'ALTER TABLE profile ADD CONSTRAINT u UNIQUE (page_id)',
      'adds the constraint u to profile without USING INDEX',
    ],
    [
      'ALTER TABLE profile ADD note uuid DEFAULT gen_random_uuid()',
      'computes the default of profile.note for every row',
    ],
    ['ALTER TABLE profile ADD n bigserial', 'numbers profile.n in every row'],
    [
      'ALTER TABLE profile ADD n integer GENERATED ALWAYS AS IDENTITY',
      'numbers profile.n in every row',
    ],
    [
      'ALTER TABLE profile ADD n integer GENERATED ALWAYS AS (id + 1) STORED',
      'computes profile.n for every row, and stores it',
    ],
    [
      'ALTER TABLE profile ADD n integer REFERENCES block_page (id)',
      'checks every row for profile.n: add the constraint by itself, NOT VALID',
    ],
    [
      'ALTER TABLE profile ADD n integer UNIQUE',
      'builds an index on profile.n: build it CONCURRENTLY by itself',
    ],
    ['UPDATE profile SET page_id = 1', 'changes rows of profile that others may want'],
  ])('refuses to hold others up: %s', async (sql, text) => {
    expect(await check(sql)).toEqual([
      `line 1 ${text}: others wait for as long as a large table takes; where that is not long, say "-- locks: <why>"`,
    ]);
    expect(await check(`-- locks: at most a thousand rows\n${sql}`)).toEqual([]);
    expect(await contract(sql)).toHaveLength(1);
  });

  it('names the line of each fault', async () => {
    const sql = `-- Über alles.

CREATE TABLE t (id integer);
-- A comment; with a semicolon.
DROP TABLE profile; DROP TABLE schedule;
`;
    expect(await check(sql)).toEqual([
      expect.stringMatching(/^line 5 drops profile: /),
      expect.stringMatching(/^line 5 drops schedule: /),
    ]);
  });

  it('refuses a file that begins its own transaction, whatever its comments say', async () => {
    expect(await contract('BEGIN; COMMIT')).toEqual(
      Array(2).fill(
        'line 3 begins or ends a transaction of its own: the runner cannot work with it',
      ),
    );
  });

  it('allows everything in the first migration', async () => {
    expect(await checkMigration('DROP TABLE profile', [])).toEqual([]);
  });

  it('refuses SQL that PostgreSQL cannot parse', async () => {
    await expect(check('ALTER TABEL profile')).rejects.toThrow('syntax error at or near "TABEL"');
  });

  describe('with a file that contracts', () => {
    it('requires that min_migration is set to the migration of the comment', async () => {
      const faults = [
        `it says "-- contract: since ${FIRST}" without UPDATE schema_compatibility SET min_migration = '${FIRST}'`,
      ];
      expect(await contract('DROP TABLE profile', FIRST, 'another')).toEqual(faults);
      expect(await check(`-- contract: since ${FIRST}\nDROP TABLE profile`)).toEqual(faults);
    });

    it('requires that the migration of the comment exists', async () => {
      expect(await contract('DROP TABLE profile', 'none', 'none')).toEqual([
        'there is no migration none before it',
      ]);
    });

    it('requires the comment if min_migration is set', async () => {
      const sql = `UPDATE schema_compatibility SET min_migration = '${FIRST}'`;
      expect(await check(sql)).toEqual([
        'it sets min_migration without "-- contract: since <migration>"',
      ]);
    });
  });

  describe('with a file without a transaction', () => {
    const outside = (sql: string) => check(`-- transaction: none\n${sql}`);
    const drop = 'DROP INDEX CONCURRENTLY IF EXISTS i;\n';
    const only = [
      expect.stringMatching(/may hold nothing but pairs of DROP INDEX CONCURRENTLY IF EXISTS/),
    ];

    it('accepts indexes that are dropped and then created', async () => {
      const build = 'CREATE UNIQUE INDEX CONCURRENTLY i\n  ON profile (page_id);\n';
      expect(await outside(drop + build)).toEqual([]);
    });

    it.each([
      'CREATE INDEX CONCURRENTLY i ON profile (page_id);',
      `${drop}CREATE INDEX i ON profile (page_id);`,
      `${drop}CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON profile (page_id);`,
      `${drop}CREATE INDEX CONCURRENTLY other ON profile (page_id);`,
      'DROP INDEX CONCURRENTLY i;\nCREATE INDEX CONCURRENTLY i ON profile (page_id);',
      `${drop}CREATE INDEX CONCURRENTLY i ON profile (page_id);\nALTER TABLE profile ADD n text;`,
    ])('takes nothing else: %s', async (sql) => {
      expect(await outside(sql)).toEqual(only);
    });

    it('requires statements that the runner can split', async () => {
      const oneLine = `${drop.trimEnd()} CREATE INDEX CONCURRENTLY i ON profile (page_id);`;
      expect(await outside(oneLine)).toEqual([
        'each statement must end with the only semicolon at the end of a line in it',
      ]);
    });

    it('refuses CONCURRENTLY in any other file', async () => {
      expect(await check('CREATE INDEX CONCURRENTLY i ON profile (page_id)')).toEqual([
        'line 1 is CONCURRENTLY in a file without "-- transaction: none": the runner cannot work with it',
      ]);
    });
  });
});

describe('prisma/migrations', () => {
  it('follow the rules', async () => {
    const migrations = await readMigrations(MIGRATIONS);
    const names = migrations.map(({ name }) => name);
    const faults = await Promise.all(
      migrations.map(async ({ name, sql }, i) =>
        (await checkMigration(sql, names.slice(0, i))).map((fault) => `${name}: ${fault}`),
      ),
    );
    expect(faults.flat()).toEqual([]);
  });

  it('have names that sort by time', () => {
    const folders = readdirSync(MIGRATIONS, { withFileTypes: true }).filter((e) => e.isDirectory());
    for (const { name } of folders) expect(name).toMatch(/^\d{14}_[a-z0-9_]+$/);
  });
});
