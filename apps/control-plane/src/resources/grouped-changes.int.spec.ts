import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { actAs } from '../revisions/change-record.js';
import { ChangeControllers } from '../testing/change-controllers.js';
import { clientAnswer } from '../testing/client-answer.js';
import { type ChangeRequest, changeRequests } from '../testing/random-changes.js';

const adminUrl = inject('databaseUrl');

const network = (ip: string, prefix_len = 32, profile_id = 1) => ({ ip, profile_id, prefix_len });

const as = <T>(work: () => T): T => actAs({ origin: 'repair' }, work);

describe('changes that are made together', () => {
  let together: ChangeControllers;
  let alone: ChangeControllers;

  beforeAll(async () => {
    [together, alone] = await Promise.all([
      ChangeControllers.start(adminUrl),
      ChangeControllers.start(adminUrl),
    ]);
  });
  afterAll(async () => {
    await Promise.all([together.stop(), alone.stop()]);
  });

  /** Sends all of them while the head is locked, so that they wait together. */
  const sendTogether = async (script: readonly ChangeRequest[]): Promise<unknown[]> => {
    await together.sql.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    const answers = script.map((request) => clientAnswer(as(() => request(together))));
    await together.sql.query('COMMIT');
    return Promise.all(answers);
  };
  const sendAlone = async (script: readonly ChangeRequest[]): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (const request of script) answers.push(await clientAnswer(as(() => request(alone))));
    return answers;
  };

  it('have the answers, revisions, log and rows that they have one by one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(changeRequests, { minLength: 60, maxLength: 120 }),
        async (script) => {
          await Promise.all([together.empty(), alone.empty()]);
          const [first, second] = await Promise.all([sendTogether(script), sendAlone(script)]);
          expect(first).toEqual(second);
          expect(await together.rows()).toEqual(await alone.rows());
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  }, 240_000);

  it('are in one transaction', async () => {
    await together.empty();
    const networks = Array.from({ length: 200 }, (_, n) => network(`10.0.0.${n}`));
    const answers = await sendTogether(
      networks.map(
        (one): ChangeRequest =>
          (s) =>
            s.ipv4.create(one),
      ),
    );
    expect(answers).toEqual(networks.map((result, i) => ({ result, revision: i + 1 })));
    // The first one may be made before the others wait.
    expect(await together.transactions()).toBeLessThanOrEqual(2);
  });

  it('of all kinds are written with a few statements for each kind', async () => {
    await together.empty();
    await together.countStatements();
    const settings = {
      white_list_only: false,
      empty_dns_answer: false,
      appaware_priority_over_bwlists: false,
    };
    const until = '2099-01-01T00:00:00Z';
    const script = Array.from({ length: 10 }, (_, n): ChangeRequest[] => [
      (s) => s.pages.create({ id: n, type: 0 }),
      (s) =>
        s.profiles.create({
          profile: { id: 10 + n, page_id: n, ...settings },
          ...{ cat_ids: [], apps: [] },
        }),
      (s) => s.applications.addAll({ profile_id: 10 + n }, { app_ids: [1, 2], status: 'allow' }),
      (s) => s.schedules.create({ profile_id: 10 + n }, { target_profile_id: 1, periods: [] }),
      (s) => s.ipv4.create(network(`0.0.0.${n}`, 32, 10 + n)),
      (s) => s.rules.addAll({ profile_id: 10 + n }, { domains: ['1', '2'], type: 'allow' }),
      (s) => s.grants.create({ profile_id: 10 + n }, { domain: `${n}`, verdict: 'allow', until }),
    ]).flat();
    // The first change may be made before the others wait.
    const answers = await sendTogether([(s) => s.ipv6.create(network('::2', 128)), ...script]);
    expect(answers).toMatchObject(answers.map((_, i) => ({ revision: i + 1 })));
    expect(await together.transactions()).toBeLessThanOrEqual(2);
    // An INSERT that may replace rows counts as both.
    expect(await together.statements()).toEqual({
      'block_page INSERT': 1,
      'profile INSERT': 1,
      'application_rule INSERT': 1,
      'application_rule UPDATE': 1,
      'schedule INSERT': 1,
      'ipv4_network INSERT': 1,
      'ipv6_network INSERT': 1,
      'domain_rule INSERT': 1,
      'domain_grant INSERT': 1,
    });
  });

  it('are made one by one when a statement fails, and only the one that it fails for fails', async () => {
    await together.empty();
    await together.sql.query(
      'ALTER TABLE ipv4_network ADD CONSTRAINT odd CHECK (prefix_length <> 30)',
    );
    const create =
      (n: number, prefixLength: number): ChangeRequest =>
      (s) =>
        s.ipv4.create(network(`10.0.0.${n * 8}`, prefixLength));
    const script = [create(1, 32), create(2, 32), create(3, 30), create(4, 32), create(4, 31)];
    await together.sql.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    const all = Promise.allSettled(script.map((request) => as(() => request(together))));
    await together.sql.query('COMMIT');
    const outcomes = await all;
    await together.sql.query('ALTER TABLE ipv4_network DROP CONSTRAINT odd');
    expect(
      outcomes.map((one) =>
        one.status === 'fulfilled'
          ? one.value.revision
          : String(one.reason).match(/odd|already has/)?.[0],
      ),
    ).toEqual([1, 2, 'odd', 3, 'already has']);
    const { rows } = await together.sql.query(
      'SELECT host(address) AS a FROM ipv4_network ORDER BY 1',
    );
    expect(rows).toEqual(['10.0.0.16', '10.0.0.32', '10.0.0.8'].map((a) => ({ a })));
  });

  it('do not overwrite a row that somebody else has added meanwhile: that change is refused', async () => {
    await together.empty();
    // Another session adds the same network, unseen until it commits. The insertion waits for it.
    const other = new pg.Client(together.url);
    await other.connect();
    await other.query(`BEGIN;
      INSERT INTO ipv4_network (address, prefix_length, profile_id) VALUES ('10.0.0.1', 32, 2)`);
    const all = [network('10.0.0.1'), network('10.0.0.2')].map((one) =>
      clientAnswer(as(() => together.ipv4.create(one))),
    );
    const waiting = `
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await together.sql.query(waiting)).rowCount).toBe(1);
    await other.query('COMMIT');
    await other.end();
    const [refused, made] = await Promise.all(all);
    expect(refused).toMatchObject({ code: 'conflict' });
    expect(made).toMatchObject({ revision: 1 });
  });
});
