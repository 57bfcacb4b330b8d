import { FeedClient, Follower } from '@weir/change-feed';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { parseIpv4 } from '../resources/networks/addresses/addresses.js';
import { FEED_TOKEN, type Harness, startHarness } from '../testing/harness.js';
import { type Answer } from '../testing/response.js';
import { RowReplica } from '../testing/row-replica.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Longer than any change takes on a machine that stalls. */
const PROPAGATION_TIMEOUT_MS = 60_000;
/** One test waits for this one. */
const SHORT_TIMEOUT_MS = 1_000;

describe('revisions', () => {
  let harness: Harness;
  const followers: Follower[] = [];
  const call: Harness['call'] = (...args) => harness.call(...args);
  const revisionOf = (answer: Pick<Answer, 'headers'>) =>
    Number(answer.headers.get('x-config-revision'));
  const headRevision = async () =>
    Number((await harness.sql('SELECT revision FROM config_head'))[0][0]);
  const follow = async () => {
    const replica = new RowReplica();
    const follower = new Follower({
      id: `follower-${followers.length}`,
      kind: 'resolver',
      redisUrl: harness.environment['REDIS_URL'],
      deployment: harness.deployment,
      feed: new FeedClient(harness.feedUrl, () => FEED_TOKEN),
      target: replica,
      log: silent,
    });
    followers.push(follower);
    await follower.start();
    return { replica, follower };
  };

  beforeAll(async () => {
    harness = await startHarness({ PROPAGATION_TIMEOUT_MS: String(PROPAGATION_TIMEOUT_MS) });
    await call('POST', '/profiles/', { profile: { id: 1 } });
  });
  afterEach(async () => {
    await Promise.all(followers.splice(0).map((follower) => follower.stop()));
  });
  afterAll(() => harness.stop());

  it('are one gapless sequence over all replicas', async () => {
    const second = await harness.startReplica();
    const before = await headRevision();
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const port = i % 2 === 0 ? harness.controlPlane.managementPort : second.managementPort;
        const response = await fetch(`http://127.0.0.1:${port}/blockpage/`, {
          method: 'POST',
          headers: { ...harness.authorization, 'Content-Type': 'application/json' },
          body: JSON.stringify({ id: 1000 + i, type: i % 2 }),
        });
        return [response.status, Number(response.headers.get('x-config-revision'))] as const;
      }),
    );
    await second.stop();
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([201]));
    expect(answers.map(([, revision]) => revision).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, i) => before + 1 + i),
    );
    const logged = await harness.sql('SELECT revision FROM change ORDER BY revision');
    expect(logged.map(([revision]) => Number(revision))).toEqual(
      Array.from({ length: before + 60 }, (_, i) => i + 1),
    );
  });

  it('are not taken by rejected requests', async () => {
    const before = await headRevision();
    await call('POST', '/profiles/', { profile: { id: 1 } });
    await call('POST', '/profiles/', { profile: { id: 2, page_id: 77 } });
    await call('PATCH', '/profiles/99', {});
    await call('DELETE', '/blockpage/99');
    expect(await headRevision()).toBe(before);
  });

  it('are also returned by reads', async () => {
    const revision = await headRevision();
    for (const path of ['/profiles/', '/profiles/1', '/net/', '/blockpage/1000']) {
      const answer = await call('GET', path);
      expect([answer.status, revisionOf(answer)]).toEqual([200, revision]);
      expect(answer.headers.has('x-config-applied')).toBe(false);
    }
  });

  it('report that there is no resolver to wait for', async () => {
    const answer = await call('PATCH', '/profiles/1', {});
    expect(answer.headers.get('x-config-applied')).toBe('0/0');
  });

  it('are applied by every resolver before the response', async () => {
    const [one, two] = [await follow(), await follow()];
    for (let i = 0; i < 20; i++) {
      const answer = await call('POST', '/net/', { ip: `192.0.2.${i}`, profile_id: 1 });
      expect([answer.status, answer.headers.get('x-config-applied')]).toEqual([201, '2/2']);
      for (const { replica } of [one, two]) {
        const key = `ipv4Network ${parseIpv4(`192.0.2.${i}`)} 32`;
        expect(replica.contents()).toHaveProperty(key);
      }
    }
  });

  it('lead to the same configuration by changes and by snapshot', async () => {
    const { replica, follower } = await follow();
    await call('POST', '/profiles/', {
      profile: { id: 50, page_id: 1000, white_list_only: true },
      cat_ids: [3, 1],
      apps: [{ app_id: 4, status: 'allow' }],
    });
    await call('PATCH', '/profiles/50', { cat_ids: [2], apps: [], profile: { page_id: null } });
    await call('DELETE', '/blockpage/1000');
    await call('PATCH', '/blockpage/1001', { type: 0 });
    const domains = ['a.example.com', 'b.example.com'];
    await call('POST', '/profile/50/bw_list/batch', { type: 'deny', domains });
    await call('POST', '/profile/50/bw_list', { type: 'allow', domain: 'a.example.com' });
    await call('DELETE', '/profile/50/bw_list/b.example.com');
    await call('POST', '/net/', { ip: '198.51.100.7', prefix_len: 24, profile_id: 50 });
    await call('PATCH', `/net/${parseIpv4('198.51.100.7')}`, { ip: '198.51.100.9' });
    await call('PATCH', `/net/${parseIpv4('198.51.100.9')}`, { prefix_len: 25, profile_id: 1 });
    await call('DELETE', `/net/${parseIpv4('192.0.2.1')}`);
    await call('POST', '/net6/', { ip: '2001:db8::7', prefix_len: 48, profile_id: 50 });
    await call('PATCH', '/net6/2001:db8::7', { ip: '2001:db8:1::7', prefix_len: 56 });
    const napt = (lower_port_bound: number, upper_port_bound: number) => ({
      ip: '203.0.113.1',
      lower_port_bound,
      upper_port_bound,
      profile_id: 50,
    });
    await call('POST', '/napt/batch', [napt(0, 99), napt(100, 199), napt(200, 299)]);
    await call('PATCH', `/napt/${parseIpv4('203.0.113.1')}/0/99`, { upper_port_bound: 9 });
    await call('DELETE', `/napt/${parseIpv4('203.0.113.1')}/100/199`);
    await call('POST', '/profile/50/app_aware/batch', { app_ids: [10, 3] });
    await call('DELETE', '/profile/50/app_aware/10');
    const night = { start: { day: 'sunday', time: '22:00' }, end: { day: 0, time: '06:00' } };
    await call('POST', '/profile/50/schedule', { target_profile_id: 1, periods: [night] });
    await call('PATCH', '/profile/50/schedule', { periods: [night, night] });
    expect(follower.report.revision).toBe(await headRevision());
    const { replica: fresh } = await follow();
    expect(replica.contents()).toEqual(fresh.contents());
    const [[digest]] = await harness.sql('SELECT digest FROM config_head');
    expect([replica.digest(), fresh.digest()]).toEqual([digest, digest]);
    expect(follower.report.counters.loads).toMatchObject({ start: 1, digest: 0, failed: 0 });
  });

  it('are durable when a resolver is slow, which the response reports after the timeout', async () => {
    const other = await harness.startReplica({ PROPAGATION_TIMEOUT_MS: String(SHORT_TIMEOUT_MS) });
    const metricsOf = async ({ opsPort }: ControlPlane) =>
      (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    const { replica, follower } = await follow();
    await expect.poll(() => metricsOf(other)).toContain('weir_followers{kind="resolver"} 1');
    let open!: () => void;
    replica.gate = new Promise((resolve) => {
      open = resolve;
    });
    const startedMs = performance.now();
    const answer = await fetch(`http://127.0.0.1:${other.managementPort}/profiles/1`, {
      method: 'PATCH',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ cat_ids: [8] }),
    });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(SHORT_TIMEOUT_MS - 5);
    expect([answer.status, answer.headers.get('x-config-applied')]).toEqual([200, '0/1']);
    const text = await metricsOf(other);
    expect(text).toMatch(/weir_changes_incomplete_total [1-9]/);
    const oldest = /oldest_revision\{kind="resolver"\} (\d+)/.exec(text)?.[1];
    expect(Number(oldest)).toBe(revisionOf(answer) - 1);
    const acknowledged = /weir_change_acknowledgement_seconds_count [1-9]/;
    expect(await metricsOf(harness.controlPlane)).toMatch(acknowledged);
    expect((await call('GET', '/profiles/1')).body.cat_ids).toEqual([8]);
    open();
    await expect.poll(() => follower.report.revision).toBe(revisionOf(answer));
    await other.stop();
  });

  it('are not taken by an unexpected error, whose response has only an id', async () => {
    const before = await headRevision();
    await harness.sql('ALTER TABLE change RENAME TO change_away');
    const answer = await call('POST', '/blockpage/', { id: 5000, type: 0 });
    await harness.sql('ALTER TABLE change_away RENAME TO change');
    expect([answer.status, answer.body]).toEqual([
      500,
      { detail: 'Internal server error', request_id: answer.headers.get('x-request-id') },
    ]);
    const line = harness.logLines.find(
      (one) => one.includes('request failed') && one.includes(answer.body.request_id as string),
    );
    expect(line).toContain('change');
    expect((await call('GET', '/blockpage/5000')).status).toBe(404);
    expect(await headRevision()).toBe(before);
    expect((await call('POST', '/blockpage/', { id: 5000, type: 0 })).status).toBe(201);
  });
});
