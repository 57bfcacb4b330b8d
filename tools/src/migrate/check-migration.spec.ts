import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkMigration } from '../testing/check-migration.js';
import { readMigrations } from './migrations.js';

const FIRST = '20260101000000_first';
const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

const check = (sql: string) => checkMigration(`${sql};\n`, [FIRST]);
const SINCE = `-- contract: since ${FIRST}\nUPDATE schema_compatibility SET min_migration = '${FIRST}';\n`;

describe('checkMigration', () => {
  it.each([
    'CREATE TABLE t (id integer PRIMARY KEY, p integer NOT NULL REFERENCES profile (id));\nCREATE INDEX i ON t (p)',
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
    'CREATE TABLE t (p integer);\nALTER TABLE t ALTER p SET NOT NULL, ADD CHECK (p > 0)',
    'ALTER TABLE profile ADD CONSTRAINT u UNIQUE USING INDEX i',
    "ALTER TYPE some_type ADD VALUE 'log'",
    "CREATE TYPE colour AS ENUM ('red');\nCREATE FUNCTION f() RETURNS integer LANGUAGE sql RETURN 1",
    'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n  DELETE FROM t;\nEND $$',
    'GRANT SELECT ON profile TO PUBLIC',
    'COMMENT ON TABLE profile IS NULL;\nINSERT INTO block_page (id, type) VALUES (1, 0)',
  ])('lets expand: %s', (sql) => {
    expect(check(sql)).toEqual([]);
  });

  it.each([
    'DROP TABLE profile',
    'DROP TYPE some_type',
    'DROP INDEX profile_page_id_idx',
    'ALTER TABLE profile DROP page_id',
    'ALTER TABLE profile DROP CONSTRAINT c',
    'ALTER TABLE profile ALTER page_id DROP DEFAULT',
    'ALTER TABLE profile ALTER page_id TYPE bigint',
    'ALTER TABLE profile ALTER page_id SET NOT NULL',
    'ALTER TABLE profile ADD CONSTRAINT n NOT NULL page_id',
    'ALTER TABLE profile ALTER n DROP EXPRESSION',
    'ALTER TABLE profile ADD note text, DROP page_id',
    'ALTER TABLE profile ADD note text NOT NULL',
    'ALTER TABLE profile RENAME page_id TO page',
    'ALTER TABLE profile RENAME TO profiles',
    "ALTER TYPE some_type RENAME VALUE 'deny' TO 'block'",
    'ALTER TABLE profile DISABLE TRIGGER ALL',
    'CREATE OR REPLACE FUNCTION f() RETURNS integer LANGUAGE sql RETURN 1',
    'DELETE FROM schedule',
    'REVOKE ALL ON profile FROM PUBLIC',
    'TRUNCATE schedule',
    'DO $$ BEGIN DROP TABLE profile; END $$',
    'LOCK TABLE profile',
  ])('refuses to contract, unless the file says since when: %s', (sql) => {
    expect(check(sql)).toEqual([expect.stringContaining('-- contract: since <migration>')]);
    expect(check(`${SINCE}-- locks: short\n${sql}`)).toEqual([]);
  });

  it.each([
    'CREATE INDEX i ON profile (page_id)',
    'ALTER TABLE profile ADD CONSTRAINT c CHECK (id > 0)',
    'ALTER TABLE profile ADD CONSTRAINT f FOREIGN KEY (page_id) REFERENCES block_page (id)',
    'ALTER TABLE profile ADD CONSTRAINT u UNIQUE (page_id)',
    'ALTER TABLE profile ADD note uuid DEFAULT gen_random_uuid()',
    'ALTER TABLE profile ADD n bigserial',
    'ALTER TABLE profile ADD n integer GENERATED ALWAYS AS IDENTITY',
    'ALTER TABLE profile ADD n integer GENERATED ALWAYS AS (id + 1) STORED',
    'ALTER TABLE profile ADD n integer REFERENCES block_page (id)',
    'ALTER TABLE profile ADD n integer UNIQUE',
    'UPDATE profile SET page_id = 1',
  ])('refuses to hold others up, unless the file says why: %s', (sql) => {
    expect(check(sql)[0]).toContain('-- locks: <why>');
    expect(check(`-- locks: at most a thousand rows\n${sql}`)).toEqual([]);
  });

  it('names the statement of each fault', () => {
    const faults = check(
      'CREATE TABLE t (id integer);\n-- A comment; more.\nDROP TABLE profile; TRUNCATE\n  t2',
    );
    expect(faults).toEqual([
      expect.stringMatching(/: DROP TABLE profile$/),
      expect.stringMatching(/: TRUNCATE t2$/),
    ]);
  });

  it('refuses a file that begins its own transaction, whatever its comments say', () => {
    expect(check(`${SINCE}BEGIN`)).toEqual([expect.stringContaining('of its own')]);
  });

  it('allows everything in the first migration', () => {
    expect(checkMigration('DROP TABLE profile;', [])).toEqual([]);
  });

  it('requires that min_migration and the comment name the same earlier migration', () => {
    const drop = 'DROP TABLE profile';
    const set = (name: string) => `UPDATE schema_compatibility SET min_migration = '${name}';\n`;
    expect(check(`-- contract: since ${FIRST}\n${drop}`)).toHaveLength(1);
    expect(check(`-- contract: since ${FIRST}\n${set('another')}${drop}`)).toHaveLength(1);
    expect(check(`-- contract: since none\n${set('none')}${drop}`)).toHaveLength(1);
    expect(check(set(FIRST))).toHaveLength(1);
  });
});

describe('checkMigration of a file without a transaction', () => {
  const outside = (sql: string) => checkMigration(`-- transaction: none\n${sql}\n`, [FIRST]);
  const drop = 'DROP INDEX CONCURRENTLY IF EXISTS i;\n';

  it('accepts indexes that are dropped and then created', () => {
    const build = 'CREATE UNIQUE INDEX CONCURRENTLY i\n  ON profile (page_id);';
    expect(outside(drop + build)).toEqual([]);
  });

  it.each([
    'CREATE INDEX CONCURRENTLY i ON profile (page_id);',
    `${drop}CREATE INDEX i ON profile (page_id);`,
    `${drop}CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON profile (page_id);`,
    `${drop}CREATE INDEX CONCURRENTLY other ON profile (page_id);`,
    'DROP INDEX CONCURRENTLY i;\nCREATE INDEX CONCURRENTLY i ON profile (page_id);',
    `${drop}CREATE INDEX CONCURRENTLY i ON profile (page_id);\nALTER TABLE profile ADD n text;`,
    `${drop.trimEnd()} CREATE INDEX CONCURRENTLY i ON profile (page_id);`,
  ])('takes nothing else: %s', (sql) => {
    expect(outside(sql)).toEqual([expect.stringMatching(/may hold nothing but pairs of/)]);
  });

  it('refuses CONCURRENTLY in any other file', () => {
    expect(check('CREATE INDEX CONCURRENTLY i ON profile (page_id)')).toHaveLength(1);
  });
});

describe('prisma/migrations', () => {
  it('follow the rules', async () => {
    const migrations = await readMigrations(MIGRATIONS);
    const names = migrations.map(({ name }) => name);
    for (const [i, { name, sql }] of migrations.entries())
      expect(checkMigration(sql, names.slice(0, i)), name).toEqual([]);
  });

  it('have names that sort by time', () => {
    const folders = readdirSync(MIGRATIONS, { withFileTypes: true }).filter((e) => e.isDirectory());
    for (const { name } of folders) expect(name).toMatch(/^\d{14}_[a-z0-9_]+$/);
  });
});
