import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate } from './migrate.js';
import { readMigrations } from './migration-files.js';

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const MIGRATION = '20261122230000_application_rule_verdict';
const DATABASE = `verdict_${process.pid}`;

/** What the release before the migration does, and this one. */
const BEFORE = {
  insert: `INSERT INTO application_rule (profile_id, application_id, status)
    SELECT * FROM unnest('{1,1}'::integer[], '{3,4}'::integer[], '{allow,deny}'::rule_status[])
    ON CONFLICT (profile_id, application_id) DO UPDATE SET status = EXCLUDED.status`,
  turn: `INSERT INTO application_rule (profile_id, application_id, status)
    SELECT * FROM unnest('{1,1}'::integer[], '{3,4}'::integer[], '{deny,allow}'::rule_status[])
    ON CONFLICT (profile_id, application_id) DO UPDATE SET status = EXCLUDED.status`,
};
const NOW = {
  insert: `INSERT INTO application_rule (profile_id, application_id, verdict)
    SELECT * FROM unnest('{1,1}'::integer[], '{3,4}'::integer[], '{1,2}'::integer[])
    ON CONFLICT (profile_id, application_id) DO UPDATE SET verdict = EXCLUDED.verdict`,
  turn: `INSERT INTO application_rule (profile_id, application_id, verdict)
    SELECT * FROM unnest('{1,1}'::integer[], '{3,4}'::integer[], '{2,1}'::integer[])
    ON CONFLICT (profile_id, application_id) DO UPDATE SET verdict = EXCLUDED.verdict`,
};

describe('the migration to one way of storing allow and deny', () => {
  let admin: pg.Client;
  let client: pg.Client;
  let folder: string;
  let databaseUrl: string;

  const stored = async () => {
    const { rows } = await client.query<{ text: string }>(
      "SELECT concat_ws(' ', application_id, status, verdict) AS text FROM application_rule ORDER BY 1",
    );
    return rows.map(({ text }) => text);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-verdict-'));
    await cp(MIGRATIONS, folder, { recursive: true });
    for (const { name } of await readMigrations(folder)) {
      if (name >= MIGRATION) await rm(join(folder, name), { recursive: true });
    }
    admin = new pg.Client(inject('databaseUrl'));
    await admin.connect();
    await admin.query(`CREATE DATABASE ${DATABASE}`);
    const url = new URL(inject('databaseUrl'));
    url.pathname = `/${DATABASE}`;
    databaseUrl = url.href;
    await migrate({ databaseUrl, folder });
    client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query('INSERT INTO profile (id) VALUES (1)');
    await client.query(BEFORE.insert);
    await migrate({ databaseUrl, folder: MIGRATIONS });
  });

  beforeEach(() => client.query('RESET session_replication_role'));

  afterAll(async () => {
    await client.end();
    await admin.query(`DROP DATABASE ${DATABASE}`);
    await admin.end();
    await rm(folder, { recursive: true });
  });

  it('fills in the verdicts of the rules that are there', async () => {
    expect(await stored()).toEqual(['3 allow 1', '4 deny 2']);
  });

  // POST /init/ sets the role `replica`, in which PostgreSQL skips ordinary triggers.
  describe.each(['origin', 'replica'])('in the replication role %s', (role) => {
    it.each([
      ['the previous release', BEFORE, BEFORE],
      ['this release', NOW, NOW],
      ['this release after the previous one', BEFORE, NOW],
      ['the previous release after this one', NOW, BEFORE],
    ])('keeps status and verdict together when %s writes', async (_who, first, second) => {
      await client.query(`SET session_replication_role = ${role}`);
      await client.query('DELETE FROM application_rule');
      await client.query(first.insert);
      expect(await stored()).toEqual(['3 allow 1', '4 deny 2']);
      await client.query(second.turn);
      expect(await stored()).toEqual(['3 deny 2', '4 allow 1']);
    });
  });

  it.each([
    'INSERT INTO application_rule (profile_id, application_id) VALUES (1, 9)',
    'INSERT INTO application_rule (profile_id, application_id, verdict) VALUES (1, 9, 3)',
    'UPDATE application_rule SET verdict = 0',
  ])('lets no rule have another verdict: %s', async (sql) => {
    await expect(client.query(sql)).rejects.toThrow(/violates (check|not-null) constraint/);
  });
});
