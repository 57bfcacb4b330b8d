import type { SnapshotPart } from '@weir/change-feed';
import { decodeChange, decodeHead, fromRow, type Row, toRow } from '@weir/config-model';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { type Harness, startHarness } from '../testing/harness.js';
import { openApiChecker } from '../testing/openapi-checker.js';
import { RowReplica } from '../testing/row-replica.js';
import { snapshotLines } from '../testing/snapshot-lines.js';

const WRITERS = 8;
const ROUNDS = 5;
const INITS = 4;
const PROFILES = 4;

/** A configuration that clashes with the requests of the writers. Every third one lacks a profile and a page. */
const initBody = (n: number) => {
  const profiles = n % 3 === 2 ? PROFILES - 1 : PROFILES;
  return {
    blockpages: [{ id: 1, type: n % 2 }, ...(n % 3 === 2 ? [] : [{ id: 2, type: 0 }])],
    profiles: Array.from({ length: profiles }, (_, id) => ({
      profile: { id, page_id: 1 },
      cat_ids: [n],
    })),
    bw_lists: [{ profile_id: 0, type: 'deny', domains: [`host-${n}.example.com`, 'example.com'] }],
    napts: [{ ip: '198.51.100.1', upper_port_bound: 1000 + n, profile_id: 0 }],
    nets: Array.from({ length: 250 }, (_, i) => ({
      ip: `10.0.${n}.${i}`,
      profile_id: i % profiles,
    })),
    nets6: [{ ip: '2001:db8::', prefix_len: 56, profile_id: n % profiles }],
  };
};

/** The requests of a writer in one round: each way to change the configuration. */
function requestsOf(n: number, round: number): [method: string, path: string, body?: unknown][] {
  const id = n % PROFILES;
  const other = (n + 1) % PROFILES;
  const ports = { lower_port_bound: 5000, upper_port_bound: 5000 + n };
  const range = { ip: '198.51.100.1', ...ports, profile_id: other };
  return [
    ['POST', '/net/', { ip: '203.0.113.7', profile_id: id }],
    ['PATCH', `/profiles/${round % PROFILES}`, { cat_ids: [n, round], profile: { page_id: 2 } }],
    ['POST', '/napt/', range],
    ['POST', `/profile/${id}/bw_list`, { type: 'allow', domain: 'example.com' }],
    ['PATCH', `/profile/${other}/bw_list/example.com`, { type: 'deny' }],
    ['PATCH', '/net/3405803783', { ip: '203.0.113.7', profile_id: other }],
    ['DELETE', '/net/3405803783'],
    ['POST', `/profile/${id}/schedule`, { target_profile_id: other, periods: [] }],
    ['PATCH', `/profile/${other}/schedule`, { target_profile_id: id }],
    ['PATCH', `/napt/3325256705/5000/${5000 + n}`, { ...range, profile_id: id }],
    ['DELETE', '/napt/batch', [{ ip: range.ip, ...ports }]],
    ['POST', `/profile/${id}/app_aware/batch`, { app_ids: [3], status: 'allow' }],
    ['DELETE', `/profile/${other}/app_aware/3`],
    ['PATCH', '/net6/2001:db8::', { ip: '2001:db8::', prefix_len: 48 + n, profile_id: id }],
    ['DELETE', `/profile/${other}/bw_list/example.com`],
    ['DELETE', `/profile/${id}/schedule`],
    ['POST', '/orders/', { id: round, domain: 'example.com', authority: 'a', reference: `${n}` }],
    ['PATCH', `/orders/${round}`, { reference: `${n}`, until: '2099-12-31T23:00:00Z' }],
    ['POST', `/profile/${id}/grants`, { domain: 'example.com', verdict: 'allow', minutes: 30 + n }],
    ['DELETE', `/orders/${(round + n) % ROUNDS}`],
    ['PATCH', '/blockpage/2', { type: round % 2 }],
    ['DELETE', '/blockpage/2'],
    ['POST', '/blockpage/', { id: 2, type: 1 }],
  ];
}

describe('two replicas, many writers and inits at once', () => {
  let harness: Harness;
  let second: ControlPlane;
  const answers: { status: number; revision: number }[] = [];
  const before = new RowReplica();

  const send = async (n: number, method: string, path: string, body?: unknown): Promise<void> => {
    const port = n % 2 === 0 ? harness.controlPlane.managementPort : second.managementPort;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers, ok } = response;
    const text = await response.text();
    const answer = { status, headers, body: text === '' ? undefined : JSON.parse(text) };
    openApiChecker()?.check(method, path, body, answer);
    answers.push({ status, revision: ok ? Number(headers.get('x-config-revision')) : 0 });
  };

  const writer = async (n: number): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++)
      for (const request of requestsOf(n, round)) await send(n + round, ...request);
  };
  const inits = async (n: number): Promise<void> => {
    for (let round = 0; round < INITS; round++)
      await send(n, 'POST', '/init/', initBody(n + round));
  };

  /** Loads the configuration as it is stored. @returns its revision */
  const load = async (replica: RowReplica): Promise<number> => {
    const built = await replica.build(Readable.from(partsOf(await snapshotLines(harness))));
    await built.swapIn();
    return built.revision;
  };

  beforeAll(async () => {
    harness = await startHarness();
    second = await harness.startReplica();
    await harness.call('POST', '/init/', initBody(0));
    await load(before);
  });
  afterAll(async () => {
    await second.stop();
    await harness.stop();
  });

  it('get 404, 409 or 422 when they clash, as the contract says, but never 500', async () => {
    await Promise.all([
      ...Array.from({ length: WRITERS }, (_, n) => writer(n)),
      ...[0, 1, 2].map((n) => inits(n)),
    ]);
    const statuses = new Set(answers.map(({ status }) => status));
    const allowed = [200, 201, 204, 404, 409, 422];
    expect([...statuses].filter((status) => !allowed.includes(status))).toEqual([]);
    // Which of the clashes there are is chance.
    expect(answers.filter(({ status }) => status < 400).length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status >= 400).length).toBeGreaterThan(0);
    const requests = requestsOf(0, 0).length;
    expect(answers).toHaveLength(WRITERS * ROUNDS * requests + 3 * INITS);
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

  it('leave a log that leads to the stored configuration: no update was lost', async () => {
    const stored = new RowReplica();
    const revision = await load(stored);
    expect([[stored.digest()]]).toEqual(await harness.sql('SELECT digest FROM config_head'));
    const changes = await harness.sql('SELECT revision, digest, operations FROM change ORDER BY 1');
    const first = Math.min(...answers.flatMap((one) => (one.revision > 0 ? one.revision : [])));
    for (const [number, digest, operations] of changes.slice(first - 1)) {
      const change = decodeChange({ revision: Number(number), digest, operations });
      expect([change.revision, await before.apply(change)]).toEqual([change.revision, digest]);
    }
    expect(changes).toHaveLength(revision);
    expect(before.contents()).toEqual(stored.contents());
  });
});

/** The lines of a snapshot. */
function* partsOf(lines: readonly object[]): Generator<SnapshotPart> {
  for (const line of lines) {
    const part = line as { type: string; kind: 'profile'; rows: Row[] };
    if (part.type === 'head') yield { type: 'head', ...decodeHead(part) };
    if (part.type === 'rows') {
      const rows = part.rows.map((row) => toRow(part.kind, fromRow(part.kind, row)));
      yield { type: 'rows', kind: part.kind, rows };
    }
  }
}
