import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { diffFromSchema } from '../testing/prisma-diff.js';

const DATABASE = `drift_${process.pid}`;

describe('schema.prisma', () => {
  let admin: pg.Client;
  let databaseUrl: string;

  const drift = async (sql: string) => {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query(sql);
    await client.end();
    return diffFromSchema(databaseUrl);
  };

  beforeAll(async () => {
    admin = new pg.Client(inject('databaseUrl'));
    await admin.connect();
    const url = new URL(inject('databaseUrl'));
    url.pathname = `/${DATABASE}`;
    databaseUrl = url.href;
  });

  beforeEach(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${DATABASE} TEMPLATE ${inject('migratedTemplate')}`);
  });

  afterAll(async () => {
    await admin.query(`DROP DATABASE ${DATABASE} WITH (FORCE)`);
    await admin.end();
  });

  it('describes the schema that the migrations create', async () => {
    expect(await diffFromSchema(databaseUrl)).toBe('');
  });

  it.each([
    ['an extra table', 'CREATE TABLE extra (id integer)', 'DROP TABLE "extra"'],
    ['a missing table', 'DROP TABLE schedule', 'CREATE TABLE "schedule"'],
    ['an extra column', 'ALTER TABLE change ADD extra text', 'DROP COLUMN "extra"'],
    [
      'a missing column',
      'ALTER TABLE profile DROP white_list_only',
      'ADD COLUMN "white_list_only" BOOLEAN NOT NULL DEFAULT false',
    ],
    ['another type', 'ALTER TABLE change ALTER digest TYPE text', 'SET DATA TYPE CHAR(16)'],
    [
      'a column that may be null',
      'ALTER TABLE schedule ALTER periods DROP NOT NULL',
      '"periods" SET NOT NULL',
    ],
    [
      'another default',
      'ALTER TABLE profile ALTER empty_dns_answer SET DEFAULT true',
      '"empty_dns_answer" SET DEFAULT false',
    ],
    [
      'a column that is not generated',
      'ALTER TABLE ipv4_network ALTER network DROP EXPRESSION',
      '"network" SET DEFAULT network(set_masklen',
    ],
    [
      'a missing primary key',
      'ALTER TABLE napt_assignment DROP CONSTRAINT napt_assignment_pkey',
      'PRIMARY KEY ("address", "lower_port", "upper_port")',
    ],
    [
      'a missing unique index',
      'DROP INDEX ipv4_network_network_key',
      'CREATE UNIQUE INDEX "ipv4_network_network_key"',
    ],
    ['a missing index', 'DROP INDEX profile_page_id_idx', 'CREATE INDEX "profile_page_id_idx"'],
    [
      'a missing foreign key',
      'ALTER TABLE domain_rule DROP CONSTRAINT domain_rule_profile_id_fkey',
      'ADD CONSTRAINT "domain_rule_profile_id_fkey" FOREIGN KEY',
    ],
    [
      'a foreign key that does something else',
      `ALTER TABLE domain_rule DROP CONSTRAINT domain_rule_profile_id_fkey,
         ADD FOREIGN KEY (profile_id) REFERENCES profile (id) ON DELETE RESTRICT ON UPDATE CASCADE`,
      'ON DELETE CASCADE ON UPDATE CASCADE',
    ],
  ])('is told from a database with %s', async (_what, sql, difference) => {
    expect((await drift(sql)).replace(/ +/g, ' ')).toContain(difference);
  });
});
