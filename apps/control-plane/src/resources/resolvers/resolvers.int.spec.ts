import { speakerOf } from '@weir/change-feed/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';

// Real resolvers are listed in tools/src/deployment/resolvers.nightly.spec.ts.

let harness: Harness;
let redis: Redis;
let say: (state: object) => Promise<void>;

const STATUS = {
  address: '192.0.2.1:53',
  version: '0.1.0',
  catalogue: 4,
  threads: 3,
  answersPerSecond: 12.5,
  cacheHitRatio: 0.75,
  blockedRatio: null,
  upstreams: [{ address: '192.0.2.53:53', state: 'down' }],
};

beforeAll(async () => {
  harness = await startHarness({ PROPAGATION_TIMEOUT_MS: '0' });
  redis = new Redis(harness.environment['REDIS_URL']);
  const speak = speakerOf(harness.deployment);
  const common = { kind: 'resolver', feedVersion: 1 };
  say = (state) => speak(redis, 'follower', JSON.stringify({ ...common, ...state }));
  for (const id of [1, 2, 3]) await harness.call('POST', '/blockpage/', { id, type: 0 });
});
afterAll(async () => {
  redis.disconnect();
  await harness.stop();
});

async function headOf(revision: number) {
  const [[lineage, digest]] = await harness.sql(
    `SELECT lineage, change.digest FROM config_head, change WHERE change.revision = ${revision}`,
  );
  return { lineage, revision, digest };
}

/** Says it again and again, because what is silent for three seconds is missing. */
async function listed(states: readonly object[]): Promise<Record<string, unknown>[]> {
  for (const state of states) await say(state);
  const answer = await harness.call('GET', '/resolvers/');
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as Record<string, unknown>[];
}

it('lists by name what resolvers say, and how far they are behind', async () => {
  const newest = Number(
    (await harness.call('GET', '/blockpage/')).headers.get('X-Config-Revision'),
  );
  const states = [
    { id: 'of-c', name: 'c', inForce: await headOf(newest), status: STATUS },
    { id: 'of-b', name: 'b', inForce: await headOf(newest - 2) },
    { id: 'of-a', name: 'a', inForce: { ...(await headOf(newest)), digest: 'f'.repeat(16) } },
    {
      ...{ id: 'of-d', name: null },
      inForce: { ...(await headOf(newest)), lineage: '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01' },
    },
  ];
  const unknown = { catalogue: null, threads: null, blocked_ratio: null, upstreams: [] };
  await harness.sql(
    `UPDATE change_record SET created_at = now() - interval '1 hour' WHERE revision = ${newest - 1}`,
  );
  await expect
    .poll(() => listed(states), { timeout: 60_000 })
    .toEqual([
      expect.objectContaining({
        id: 'of-a',
        state: 'catching_up',
        behind_revisions: null,
        behind_seconds: null,
      }),
      expect.objectContaining({
        id: 'of-b',
        state: 'catching_up',
        revision: newest - 2,
        behind_revisions: 2,
        ...unknown,
      }),
      {
        ...{ id: 'of-c', name: 'c', state: 'live', revision: newest },
        ...{ behind_revisions: 0, behind_seconds: 0, last_seen: expect.any(String) },
        ...{ address: '192.0.2.1:53', version: '0.1.0', catalogue: 4, threads: 3 },
        ...{ answers_per_second: 12.5, cache_hit_ratio: 0.75, blocked_ratio: null },
        upstreams: [{ address: '192.0.2.53:53', state: 'down' }],
      },
      expect.objectContaining({
        id: 'of-d',
        name: 'of-d',
        state: 'catching_up',
        behind_revisions: null,
      }),
    ]);
  const behindSeconds = async () => (await listed(states))[1]?.['behind_seconds'];
  await expect.poll(behindSeconds).toBeGreaterThanOrEqual(3_600);
});

it('is live until what it lacks is a moment old', async () => {
  const stateOf = async (revision: number, age: string) => {
    await harness.sql(
      `UPDATE change_record SET created_at = now() + interval '${age}' WHERE revision = ${revision + 1}`,
    );
    const all = await listed([{ id: 'of-e', name: 'e', inForce: await headOf(revision) }]);
    return all.find(({ id }) => id === 'of-e');
  };
  const last = Number((await harness.call('GET', '/net/')).headers.get('X-Config-Revision'));
  await expect
    .poll(() => stateOf(last - 1, '1 minute'), { timeout: 60_000 })
    .toMatchObject({ state: 'live', behind_revisions: 1, behind_seconds: 0 });
  await expect.poll(() => stateOf(last - 1, '-2 seconds')).toMatchObject({ state: 'catching_up' });
});

it('of two that claim one name, both are listed', async () => {
  const inForce = await headOf(1);
  const states = ['one', 'two'].map((id) => ({ id, name: 'shared', inForce }));
  const ids = async () => {
    const all = await listed(states);
    return all.filter(({ name }) => name === 'shared').map(({ id }) => id);
  };
  await expect.poll(ids, { timeout: 60_000 }).toEqual(['one', 'two']);
});
