import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { actAs } from '../revisions/change-record.js';
import { ChangeServices } from '../testing/change-services.js';
import { clientAnswer } from '../testing/client-answer.js';
import { type ChangeRequest, changeRequests } from '../testing/random-changes.js';

const adminUrl = inject('databaseUrl');

const as = <T>(work: () => T): T => actAs({ origin: 'repair' }, work);

describe('changes that are made together', () => {
  let together: ChangeServices;
  let alone: ChangeServices;

  beforeAll(async () => {
    [together, alone] = await Promise.all([
      ChangeServices.start(adminUrl),
      ChangeServices.start(adminUrl),
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
    const addresses = Array.from({ length: 200 }, (_, n) => 0x0a00_0000 + n);
    const record = (address: number) => ({ address, prefixLength: 32, profileId: 1 });
    const answers = await sendTogether(
      addresses.map(
        (address): ChangeRequest =>
          (s) =>
            s.ipv4.create(record(address)),
      ),
    );
    expect(answers).toEqual(
      addresses.map((address, i) => ({ result: record(address), revision: i + 1 })),
    );
    // The first one may be made before the others wait.
    expect(await together.transactions()).toBeLessThanOrEqual(2);
  });

  it('of all kinds are written with a few statements for each kind', async () => {
    await together.empty();
    await together.countStatements();
    const settings = {
      whiteListOnly: false,
      emptyDnsAnswer: false,
      appawarePriorityOverBwlists: false,
      categoryIds: [],
      applicationRules: [],
    };
    const script = Array.from({ length: 10 }, (_, n): ChangeRequest[] => [
      (s) => s.pages.create({ id: n, type: 0 }),
      (s) => s.profiles.create({ id: 10 + n, pageId: n, ...settings }),
      (s) => s.applications.put(10 + n, [1, 2], 1, () => ['body']),
      (s) => s.schedules.create({ profileId: 10 + n, targetProfileId: 1, periods: [] }),
      (s) => s.ipv4.create({ address: n, prefixLength: 32, profileId: 10 + n }),
      (s) => s.rules.put(10 + n, [1, 2], 1),
      (s) => s.grants.put({ profileId: 10 + n, domainHash: n, verdict: 1, until: 4_000_000_000 }),
    ]).flat();
    // The first change may be made before the others wait.
    const network = { address: [0, 0, 0, 1], prefixLength: 128, profileId: 1 } as const;
    const answers = await sendTogether([(s) => s.ipv6.create(network), ...script]);
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
        s.ipv4.create({ address: 0x0a00_0000 + n * 8, prefixLength, profileId: 1 });
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
    const record = { address: 0x0a00_0001, prefixLength: 32, profileId: 1 };
    // Another session adds the same network, unseen until it commits. The insertion waits for it.
    const other = new pg.Client(together.url);
    await other.connect();
    await other.query(`BEGIN;
      INSERT INTO ipv4_network (address, prefix_length, profile_id) VALUES ('10.0.0.1', 32, 2)`);
    const all = [record, { ...record, address: 0x0a00_0002 }].map((one) =>
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
