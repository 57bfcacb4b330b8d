import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { digestOfRows } from '../feed/rows-digest.js';
import { type Harness, startHarness } from '../testing/harness.js';
import { LARGE_ITEMS } from './large-changes.js';

const ITEMS = LARGE_ITEMS + 1;
const BUSY = { detail: 'Earlier changes take too long. Nothing was changed, so try again' };
const LISTS = { blockpages: [], bw_lists: [], nets: [], nets6: [], napts: [] };
const configuration = {
  ...LISTS,
  profiles: [1, 2, 3].map((id) => ({ profile: { id, page_id: null } })),
};
const domains = Array.from({ length: ITEMS }, (_, i) => `host-${i}.example.com`);
const ranges = Array.from({ length: ITEMS }, (_, i) => {
  return { ip: '198.51.100.7', lower_port_bound: 2 * i, upper_port_bound: 2 * i + 1 };
});

/** Who inserts a rule or a range of profile 1 or 2 waits while the gate is closed. No lock, so no timeout ends it. */
const GATE = `
  CREATE TABLE gate (state text);
  INSERT INTO gate VALUES ('open');
  CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE EXISTS (SELECT FROM gate WHERE state = 'closed') LOOP PERFORM pg_sleep(0.02); END LOOP;
      IF EXISTS (SELECT FROM gate WHERE state = 'broken') THEN RAISE EXCEPTION 'broken'; END IF;
      RETURN NEW;
    END $$;
  CREATE TRIGGER gate BEFORE INSERT ON domain_rule FOR EACH ROW WHEN (NEW.profile_id < 3)
    EXECUTE FUNCTION pass_gate();
  CREATE TRIGGER gate BEFORE INSERT ON napt_assignment FOR EACH ROW WHEN (NEW.profile_id < 3)
    EXECUTE FUNCTION pass_gate();`;

let harness: Harness;
let second: ControlPlane;
let sql: pg.Client;

beforeAll(async () => {
  harness = await startHarness({ CHANGE_WAIT_MS: '25000' });
  second = await harness.startReplica();
  sql = new pg.Client(harness.environment['DATABASE_URL']);
  await sql.connect();
  await sql.query(GATE);
});
afterAll(async () => {
  await sql.end();
  await second.stop();
  await harness.stop();
});

const setGate = (state: 'open' | 'closed' | 'broken') =>
  sql.query('UPDATE gate SET state = $1', [state]);
const count = async (text: string): Promise<number> =>
  (await sql.query<{ n: number }>(`SELECT count(*)::int AS n ${text}`)).rows[0].n;
const until = (text: string, n: number) =>
  expect.poll(() => count(text), { timeout: 20_000 }).toBe(n);
const SESSIONS = 'FROM pg_stat_activity WHERE datname = current_database() AND';
/** Large changes that stand inside their writing. */
const untilAtGate = (n = 1) => until(`${SESSIONS} wait_event = 'PgSleep'`, n);
const untilWaitingForPart = (n = 1) => until(`${SESSIONS} wait_event = 'advisory'`, n);
const rulesOf = (profile: number) => count(`FROM domain_rule WHERE profile_id = ${profile}`);

const send = async (port: number, method: string, path: string, body?: unknown) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...harness.authorization, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    revision: Number(response.headers.get('x-config-revision')),
    body: text === '' ? null : (JSON.parse(text) as unknown),
  };
};
const first = (method: string, path: string, body?: unknown) =>
  send(harness.controlPlane.managementPort, method, path, body);
const onSecond = (method: string, path: string, body?: unknown) =>
  send(second.managementPort, method, path, body);
const batch = (profile: number, type: 'allow' | 'deny' = 'deny') =>
  [`/profile/${profile}/bw_list/batch`, { type, domains }] as const;
const rule = (profile: number, domain: string) =>
  [`/profile/${profile}/bw_list`, { type: 'allow', domain }] as const;

/** The digest of the head is that of the rows, and the log has every revision. */
const expectSound = async () => {
  const pages = async function* (text: string) {
    yield (await sql.query<object>(text)).rows;
  };
  const { rows } = await sql.query<object>(`
    SELECT config_head.digest, config_head.revision::int AS revision, logged.n,
           (SELECT digest FROM change WHERE revision = config_head.revision) AS of_log
    FROM config_head, (SELECT count(*)::int AS n FROM change) AS logged`);
  const { revision } = rows[0] as { revision: number };
  const digest = await digestOfRows(pages);
  expect(rows).toEqual([{ digest, revision, n: revision, of_log: digest }]);
};

describe('while a large change writes', () => {
  beforeEach(async () => {
    await setGate('open');
    expect((await first('POST', '/init/', configuration)).status).toBe(204);
  });
  afterEach(async () => {
    await setGate('open');
    await expectSound();
  });

  it('changes of other profiles, and other changes of its profile, are made', async () => {
    await setGate('closed');
    const large = first('POST', ...batch(1));
    await untilAtGate();
    const others: [method: string, path: string, body: unknown][] = [
      ['POST', ...rule(3, 'example.org')],
      ['PATCH', '/profiles/1', { cat_ids: [7] }],
      ['POST', '/net/', { ip: '192.0.2.1', profile_id: 1 }],
      ['POST', '/napt/', { ip: '198.51.100.7', upper_port_bound: 9, profile_id: 3 }],
      ['POST', '/profile/1/schedule', { target_profile_id: 2, periods: [] }],
    ];
    for (const other of others) {
      for (const replica of [first, onSecond]) {
        expect([200, 201, 409]).toContain((await replica(...other)).status);
      }
    }
    expect(await rulesOf(1)).toBe(0);
    await setGate('open');
    const { status, revision } = await large;
    expect([status, revision]).toEqual([201, await count('FROM change')]);
    expect(await rulesOf(1)).toBe(ITEMS);
  });

  it('changes of the same list wait, in order, and see its result', async () => {
    await setGate('closed');
    const large = first('POST', ...batch(1));
    await untilAtGate();
    const answered: string[] = [];
    const note = <T>(answer: Promise<T>) => answer.finally(() => answered.push('small'));
    const waiting = [note(first('POST', ...rule(1, 'host-0.example.com')))];
    await untilWaitingForPart(1);
    waiting.push(note(first('DELETE', '/profile/1/bw_list/host-0.example.com')));
    waiting.push(note(onSecond('DELETE', '/profile/1/bw_list/host-1.example.com')));
    // One session of each replica waits for all of its changes.
    await untilWaitingForPart(2);
    expect((await first('POST', ...rule(3, 'example.org'))).status).toBe(201);
    expect(answered).toEqual([]);
    await setGate('open');
    const [made, ...later] = await Promise.all([large, ...waiting]);
    expect(later.map(({ status }) => status)).toEqual([201, 204, 204]);
    for (const { revision } of later) expect(revision).toBeGreaterThan(made.revision);
    expect(later[1].revision).toBeGreaterThan(later[0].revision);
    expect(await rulesOf(1)).toBe(ITEMS - 2);
  });

  it('NAPT ranges wait, of whatever profile, and clash with those that it adds', async () => {
    await setGate('closed');
    const large = first(
      'POST',
      '/napt/batch',
      ranges.map((range) => ({ ...range, profile_id: 1 })),
    );
    await untilAtGate();
    const overlap = { ip: '198.51.100.7', lower_port_bound: 1, upper_port_bound: 2, profile_id: 3 };
    const small = onSecond('POST', '/napt/', overlap);
    await untilWaitingForPart();
    expect((await first('POST', ...rule(3, 'example.org'))).status).toBe(201);
    await setGate('open');
    expect((await large).status).toBe(201);
    expect((await small).status).toBe(409);
    expect((await first('DELETE', '/napt/batch', ranges)).status).toBe(204);
    expect(await count('FROM napt_assignment')).toBe(0);
  });

  it('POST /init/ waits for it, and replaces what it wrote', async () => {
    await setGate('closed');
    const large = first('POST', ...batch(1));
    await untilAtGate();
    const inits = [
      first('POST', '/init/', configuration),
      onSecond('POST', '/init/', configuration),
    ];
    await untilWaitingForPart();
    const later = onSecond('POST', ...batch(3));
    await setGate('open');
    const [made, ...replaced] = await Promise.all([large, ...inits]);
    expect([made, ...replaced].map(({ status }) => status)).toEqual([201, 204, 204]);
    for (const { revision } of replaced) expect(revision).toBeGreaterThan(made.revision);
    expect(await rulesOf(1)).toBe(0);
    expect((await later).status).toBe(201);
  });

  it('large ones of another profile are made by another replica, and those of the same profile wait', async () => {
    await setGate('closed');
    const large = [first('POST', ...batch(1)), onSecond('POST', ...batch(2))];
    await untilAtGate(2);
    await setGate('open');
    expect((await Promise.all(large)).map(({ status }) => status)).toEqual([201, 201]);

    await setGate('closed');
    const deny = first('POST', ...batch(1, 'deny'));
    await untilAtGate();
    const allow = [onSecond('POST', ...batch(1, 'allow')), first('POST', ...batch(1, 'allow'))];
    await untilWaitingForPart();
    await setGate('open');
    const [earlier, ...rest] = await Promise.all([deny, ...allow]);
    for (const { status, revision } of rest) {
      expect([status, revision > earlier.revision]).toEqual([201, true]);
    }
    expect(await count('FROM domain_rule WHERE profile_id = 1 AND verdict = 1')).toBe(ITEMS);
  });

  it('and then fails, it leaves nothing, and those that waited for it are made', async () => {
    await setGate('closed');
    const large = first('POST', ...batch(1));
    await untilAtGate();
    const other = await first('POST', ...rule(3, 'example.org'));
    const same = first('DELETE', '/profile/1/bw_list/host-0.example.com');
    await untilWaitingForPart();
    await setGate('broken');
    expect((await large).status).toBe(500);
    expect((await same).status).toBe(404);
    await setGate('open');
    expect(await rulesOf(1)).toBe(0);
    expect(await count('FROM change')).toBe(other.revision);
  });

  it('and its session ends, it leaves nothing and holds nobody up', async () => {
    await setGate('closed');
    const large = first('POST', ...batch(1));
    await untilAtGate();
    const same = onSecond('DELETE', '/profile/1/bw_list/host-0.example.com');
    await untilWaitingForPart();
    await sql.query(`SELECT pg_terminate_backend(pid) ${SESSIONS} wait_event = 'PgSleep'`);
    expect((await large).status).toBe(503);
    expect((await same).status).toBe(404);
    await setGate('open');
    expect((await first('POST', ...batch(1))).status).toBe(201);
  });

  it('refuses what a small one refuses, with the same answer', async () => {
    const unknown = await first('POST', ...rule(9, 'example.org'));
    expect(await first('POST', ...batch(9))).toEqual(unknown);
    expect(unknown.status).toBe(404);
  });

  it('others wait no longer than they may', async () => {
    const impatient = await harness.startReplica({ CHANGE_WAIT_MS: '300' });
    await setGate('closed');
    const large = first('POST', ...batch(1));
    await untilAtGate();
    const port = impatient.managementPort;
    const answers = await Promise.all([
      send(port, 'POST', ...rule(1, 'example.org')),
      send(port, 'POST', ...batch(1)),
      send(port, 'POST', '/init/', configuration),
    ]);
    for (const { status, body } of answers) expect([status, body]).toEqual([503, BUSY]);
    await setGate('open');
    expect((await large).status).toBe(201);
    await impatient.stop();
  });
});
