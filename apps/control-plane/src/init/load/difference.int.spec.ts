import type { Operation, Schedule } from '@weir/config-model';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { digestOfRows } from '../../feed/entity-tables.js';
import { readPages } from '../../platform/database/snapshot.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { RowReplica } from '../../testing/row-replica.js';
import { MAX_LOGGED_ROWS } from './difference.js';
import { bodies } from './testing/bodies.js';
import { replaceWith } from './testing/replace-with.js';

const adminUrl = inject('databaseUrl');
const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };

describe('the operations of POST /init/', () => {
  let url: string;
  let client: pg.Client;

  beforeAll(async () => {
    url = await createFreshDatabase(adminUrl);
    client = new pg.Client(url);
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await dropDatabase(adminUrl, url);
  });

  const replace = (body: object) => replaceWith(client, body);
  const apply = (replica: RowReplica, operations: readonly Operation[]) =>
    replica.apply({ revision: 1, digest: '', operations });

  /** Of what is stored. */
  const storedDigest = async (): Promise<string> => {
    await client.query('BEGIN');
    const digest = await digestOfRows((sql) => readPages(client, sql));
    await client.query('ROLLBACK');
    return digest;
  };

  it('lead from any small configuration to any other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bodies, { minLength: 2, maxLength: 6 }), async (steps) => {
        const replica = new RowReplica();
        await client.query('DELETE FROM domain_order');
        await replace(EMPTY);
        for (const body of steps) {
          const { digest, operations } = await replace(body);
          expect(await apply(replica, operations)).toBe(digest);
          expect(await storedDigest()).toBe(digest);
          const changed = operations.map((one) =>
            one.type === 'reload' ? '' : JSON.stringify(one),
          );
          expect(new Set(changed).size).toBe(changed.length);
          if (body.profiles.length < 2) continue;
          // Orders stay, and grants go.
          await client.query(`
            INSERT INTO domain_order (id, domain_hash, authority, reference, revision) VALUES (1, 2, 'a', 'b', 1)
            ON CONFLICT DO NOTHING;
            INSERT INTO domain_grant VALUES (0, 2, 1, to_timestamp(4000000000))`);
          const order = { id: 1, domainHash: 2, authority: 'a', reference: 'b', until: null };
          const grant = { profileId: 0, domainHash: 2, verdict: 1, until: 4_000_000_000 } as const;
          await apply(replica, [
            { type: 'put', kind: 'order', entity: order },
            { type: 'put', kind: 'grant', entity: grant },
          ]);
          // Schedules are not part of a body. They go with their profiles.
          const schedule: Schedule = {
            profileId: body.profiles.length - 1,
            targetProfileId: 0,
            periods: [],
          };
          await client.query(
            `INSERT INTO schedule (profile_id, target_profile_id, periods) VALUES ($1, 0, '[]')
             ON CONFLICT (profile_id) DO UPDATE SET target_profile_id = 0`,
            [schedule.profileId],
          );
          await apply(replica, [{ type: 'put', kind: 'schedule', entity: schedule }]);
        }
      }),
      { numRuns: 25, endOnFailure: true },
    );
  }, 240_000);

  it('are none for the same body, one for each row that differs, and one reload for too many', async () => {
    const profiles = [0, 1].map((id) => ({ profile: { id }, cat_ids: [], apps: [] }));
    const nets = Array.from({ length: MAX_LOGGED_ROWS + 1 }, (_, i) => ({
      ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      profile_id: 0,
    }));
    await replace({ ...EMPTY, profiles });
    expect((await replace({ ...EMPTY, profiles, nets })).operations).toEqual([{ type: 'reload' }]);
    expect((await replace({ ...EMPTY, profiles, nets })).operations).toEqual([]);
    const other = { ip: '10.0.0.7', profile_id: 1 };
    const { operations } = await replace({ ...EMPTY, profiles, nets: nets.with(7, other) });
    expect(operations).toMatchObject([
      { type: 'put', kind: 'ipv4Network', entity: { profileId: 1 } },
    ]);
    expect((await replace({ ...EMPTY, profiles, nets: nets.slice(1) })).operations).toHaveLength(2);
    expect((await replace({ ...EMPTY, profiles })).operations).toHaveLength(MAX_LOGGED_ROWS);
    expect((await replace({ ...EMPTY, profiles, nets })).operations).toEqual([{ type: 'reload' }]);
    expect((await replace(EMPTY)).operations).toEqual([{ type: 'reload' }]);
  });

  it('have the masked prefix of a network, and its record the address as it was sent', async () => {
    const profiles = [{ profile: { id: 0 }, cat_ids: [], apps: [] }];
    const net = { prefix_len: 24, profile_id: 0 };
    await replace({ ...EMPTY, profiles, nets: [{ ip: '203.0.2.5', ...net }] });
    const moved = await replace({ ...EMPTY, profiles, nets: [{ ip: '203.0.2.9', ...net }] });
    const address = 0xcb00_0200;
    expect(moved.operations).toMatchObject([{ type: 'put', entity: { address } }]);
    expect(moved.keys).toEqual([
      ['delete', 'ipv4Network', [address + 5, 24]],
      ['put', 'ipv4Network', [address + 9, 24]],
    ]);
    expect(await replace({ ...EMPTY, profiles })).toMatchObject({
      operations: [{ type: 'delete', key: { address } }],
      keys: [['delete', 'ipv4Network', [address + 9, 24]]],
    });
  });
});
