import { Digest, fromRow, toRow } from '@weir/config-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { FEED_TOKEN, type Harness, startHarness } from '../testing/harness.js';

const WRITERS = 8;
const ROUNDS = 12;

/** A configuration that sometimes clashes with the requests of the writers. */
const initBody = (n: number) => ({
  blockpages: [{ id: 1, type: n % 2 }],
  profiles: Array.from({ length: 4 }, (_, id) => ({ profile: { id, page_id: 1 } })),
  bw_lists: [{ profile_id: 0, type: 'deny', domains: [`host-${n}.example.com`] }],
  napts: [{ ip: '198.51.100.1', upper_port_bound: 1000 + n, profile_id: 0 }],
  nets: Array.from({ length: 300 }, (_, i) => ({
    ip: `10.0.${n}.${i % 256}`,
    prefix_len: 32,
    profile_id: i % 4,
  })).slice(0, 250),
  nets6: [],
});

describe('two replicas, many writers and inits at once', () => {
  let harness: Harness;
  let second: ControlPlane;
  const answers: { status: number; revision: number }[] = [];

  const send = async (n: number, method: string, path: string, body?: unknown): Promise<void> => {
    const port = n % 2 === 0 ? harness.controlPlane.managementPort : second.managementPort;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    const revision = Number(response.headers.get('x-config-revision'));
    answers.push({ status: response.status, revision: response.ok ? revision : 0 });
  };

  const writer = async (n: number): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      await send(n + round, 'POST', '/net/', { ip: '203.0.113.7', profile_id: n % 4 });
      await send(n, 'PATCH', `/profiles/${round % 4}`, { cat_ids: [n, round] });
      await send(n + round, 'POST', '/napt/', {
        ip: '198.51.100.1',
        lower_port_bound: 5000,
        upper_port_bound: 5000 + n,
        profile_id: 1,
      });
      await send(n, 'POST', `/profile/${n % 4}/bw_list`, { type: 'allow', domain: 'example.com' });
      await send(n + round, 'DELETE', '/net/3405803783');
      await send(n, 'POST', `/profile/${n % 4}/schedule`, {
        target_profile_id: (n + 1) % 4,
        periods: [],
      });
    }
  };

  beforeAll(async () => {
    harness = await startHarness();
    second = await harness.startReplica();
    await harness.call('POST', '/init/', initBody(0));
  });
  afterAll(async () => {
    await second.stop();
    await harness.stop();
  });

  it('get 409 or 404 when they clash, but never 500', async () => {
    const inits = async (n: number): Promise<void> => {
      for (let round = 0; round < 4; round++) await send(n, 'POST', '/init/', initBody(round));
    };
    await Promise.all([
      ...Array.from({ length: WRITERS }, (_, n) => writer(n)),
      inits(0),
      inits(1),
    ]);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => ![200, 201, 204, 404, 409].includes(status))).toEqual(
      [],
    );
    expect(statuses.has(409)).toBe(true);
    expect(answers).toHaveLength(WRITERS * ROUNDS * 6 + 8);
  });

  it('leave revisions without a gap, each returned once', async () => {
    const revisions = answers.map(({ revision }) => revision).filter((revision) => revision > 0);
    expect(new Set(revisions).size).toBe(revisions.length);
    const [[head]] = await harness.sql('SELECT revision FROM config_head');
    const first = Math.min(...revisions);
    expect(revisions.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: revisions.length }, (_, i) => first + i),
    );
    expect(Number(head)).toBe(Math.max(...revisions));
    const logged = await harness.sql('SELECT count(*), max(revision) FROM change');
    expect(logged).toEqual([[head, head]]);
  });

  it('leave the digest of the stored configuration: no update was lost', async () => {
    const digest = new Digest();
    const response = await fetch(`${harness.feedUrl}/snapshot`, {
      headers: { Authorization: `Bearer ${FEED_TOKEN}` },
    });
    for (const line of (await response.text()).trimEnd().split('\n')) {
      const part = JSON.parse(line) as { type: string; kind: 'profile'; rows: never[] };
      if (part.type !== 'rows') continue;
      for (const row of part.rows) digest.add(part.kind, toRow(part.kind, fromRow(part.kind, row)));
    }
    expect(await harness.sql('SELECT digest FROM config_head')).toEqual([[digest.toString()]]);
  });
});
