import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { replaceWith } from './testing/replace-with.js';

const adminUrl = inject('databaseUrl');
/** May set `session_replication_role`, or may not. */
const USERS = { superuser: null, 'another user': 'weir_plans' } as const;

/** A body with as many profiles, networks, port ranges and rules. */
function body(count: number): object {
  const range = Array.from({ length: count }, (_, i) => i);
  const ip = (i: number) => `10.0.${i >> 8}.${i & 255}`;
  return {
    blockpages: [{ id: 1, type: 0 }],
    profiles: range.map((id) => ({ profile: { id, page_id: 1 }, apps: [] })),
    bw_lists: range.map((i) => ({
      profile_id: i,
      type: 'deny',
      domains: [`h${i}.example.com`],
    })),
    napts: range.map((i) => ({ ip: ip(i), profile_id: i })),
    nets: range.map((i) => ({ ip: ip(i), profile_id: i })),
    nets6: [],
  };
}

describe.each(Object.entries(USERS))('the plans of POST /init/ for a %s', (_name, role) => {
  let url: string;
  let client: pg.Client;
  const plans: string[] = [];

  beforeAll(async () => {
    url = await createFreshDatabase(adminUrl);
    const database = new URL(url).pathname.slice(1);
    const admin = new pg.Client(url);
    await admin.connect();
    // Every plan comes to the client as a notice.
    await admin.query(`
      ALTER DATABASE ${database} SET session_preload_libraries = 'auto_explain';
      ALTER DATABASE ${database} SET auto_explain.log_min_duration = 0;
      ALTER DATABASE ${database} SET auto_explain.log_nested_statements = on;
      ALTER DATABASE ${database} SET auto_explain.log_level = notice`);
    if (role !== null) {
      await admin.query(`DROP ROLE IF EXISTS ${role}; CREATE ROLE ${role};
        GRANT ALL ON DATABASE ${database} TO ${role}`);
      const { rows } = await admin.query<{ name: string }>(
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
      );
      for (const { name } of rows) await admin.query(`ALTER TABLE "${name}" OWNER TO ${role}`);
      await admin.query(`GRANT ALL ON SCHEMA public TO ${role}`);
    }
    await admin.end();
    client = new pg.Client(url);
    await client.connect();
    if (role !== null) await client.query(`SET ROLE ${role}`);
    client.on('notice', ({ message }) => plans.push(message ?? ''));
  });
  afterAll(async () => {
    await client.end();
    await dropDatabase(adminUrl, url);
    if (role === null) return;
    const admin = new pg.Client(adminUrl);
    await admin.connect();
    await admin.query(`DROP ROLE ${role}`);
    await admin.end();
  });

  const replace = async (count: number): Promise<string[]> => {
    plans.length = 0;
    await replaceWith(client, body(count));
    return plans;
  };

  // 7,000 of each kind are more rows than are checked one by one for a superuser.
  it('compare no row with every other row, whatever PostgreSQL knows of the tables', async () => {
    await replace(7_000);
    // Afterwards the tables have many pages with few rows: whoever relies on this is wrong about the next one.
    await replace(10);
    const made = await replace(7_000);
    expect(made.length).toBeGreaterThan(10);
    expect(made.filter((plan) => plan.includes('Nested Loop'))).toEqual([]);
    // The check of one row's profile, made thousands of times.
    const checks = made.filter((plan) => /"profile" x .* FOR KEY SHARE/.test(plan));
    expect(checks.length > 0).toBe(role !== null);
    expect(checks.filter((plan) => plan.includes('Seq Scan'))).toEqual([]);
  });
});
