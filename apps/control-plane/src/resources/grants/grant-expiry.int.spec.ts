import { decodeChange } from '@weir/config-model';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { actAs } from '../../revisions/change-record.js';
import { ChangeControllers } from '../../testing/change-controllers.js';
import { RowReplica } from '../../testing/row-replica.js';
import { toTimeText } from '../orders/order-store.js';
import { grantExpiry, removal } from './grants.js';

const LATER_S = 4_000_000_000;
const author = { origin: 'repair' } as const;
let services: ChangeControllers;

beforeAll(async () => {
  services = await ChangeControllers.start(inject('databaseUrl'));
});
afterAll(() => services.stop());
beforeEach(() => services.empty());

const grant = (domainHash: number, until: number) => {
  const one = { domain: String(domainHash), verdict: 'allow', until: toTimeText(until) } as const;
  return actAs(author, () => services.grants.create({ profile_id: 1 }, one));
};
const run = (
  signal = new AbortController().signal,
  sql: Parameters<typeof grantExpiry>[0] = services.database.pool,
) => grantExpiry(sql, services.writer, pino({ level: 'silent' })).run(signal);
const stored = async () =>
  (await services.sql.query<{ hash: string }>('SELECT domain_hash AS hash FROM domain_grant')).rows;

it('removes the grants that have ended, by changes that every follower can follow', async () => {
  for (let hash = 0; hash < 1_002; hash++) void grant(hash, 1_700_000_000 + hash);
  await grant(2_000, LATER_S);
  await run();
  expect(await stored()).toEqual([{ hash: '2000' }]);
  const replica = new RowReplica();
  const { rows } = await services.sql.query<{ revision: string }>(
    'SELECT revision, digest, operations FROM change ORDER BY revision',
  );
  for (const row of rows) {
    const change = decodeChange({ ...row, revision: Number(row.revision) });
    expect(await replica.apply(change)).toBe(change.digest);
  }
  const { rows: records } = await services.sql.query(
    'SELECT origin, token, key_count, profile_ids FROM change_record ORDER BY revision DESC LIMIT 2',
  );
  expect(records).toEqual(
    [2, 1_000].map((key_count) => ({
      ...{ origin: 'expiry', token: null, key_count },
      profile_ids: [1],
    })),
  );
});

it('takes no revision when none has ended', async () => {
  await grant(1, LATER_S);
  await run();
  const { rows } = await services.sql.query('SELECT count(*)::int AS n FROM change');
  expect(rows).toEqual([{ n: 1 }]);
});

it('leaves a grant alone that was given anew meanwhile', async () => {
  await grant(1, 1_700_000_000);
  const found = { profileId: 1, domainHash: 1, verdict: 1, until: 1_700_000_000 } as const;
  await grant(1, LATER_S);
  const { result } = await actAs(author, () => services.writer.write(removal([found])));
  expect([result, await stored()]).toEqual([0, [{ hash: '1' }]]);
});

it('leaves a grant alone for a minute after its end, for resolvers with a slow clock', async () => {
  // In a transaction the time of PostgreSQL stands still.
  await services.sql.query('BEGIN');
  try {
    const { rows } = await services.sql.query<{ s: number }>(
      'SELECT floor(extract(epoch FROM now()))::float8 AS s',
    );
    await grant(1, rows[0].s - 58);
    await grant(2, rows[0].s - 62);
    await run(undefined, services.sql);
    expect(await stored()).toEqual([{ hash: '1' }]);
  } finally {
    await services.sql.query('ROLLBACK');
  }
});

it('ends when the process stops', async () => {
  await expect(run(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});
