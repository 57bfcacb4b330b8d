import fc from 'fast-check';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RequestError } from '../http/errors/errors.js';
import { InvalidRequestError } from '../http/validation/fault.js';
import { Database } from '../platform/database/database.js';
import { actAs } from '../revisions/author.js';
import { ConfigurationReader } from '../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../revisions/configuration-writer.js';
import type { WithRevision } from '../revisions/with-revision.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { BlockPagesService } from './block-pages/block-pages.service.js';
import { DomainListsService } from './domain-lists/domain-lists.service.js';
import { NAPT_LOCATIONS } from './networks/napt/napt.dto.js';
import { NaptService } from './networks/napt/napt.service.js';
import { Ipv4NetworksService } from './networks/prefixes/ipv4-networks.service.js';
import { Ipv6NetworksService } from './networks/prefixes/ipv6-networks.service.js';

const adminUrl = inject('databaseUrl');
const LOCATION = ['body', 'profile_id'];
/** One more than there are. */
const PROFILES = 4;

/** The services that change the configuration, on one database. */
class Services {
  readonly pages: BlockPagesService;
  readonly rules: DomainListsService;
  readonly napts: NaptService;
  readonly ipv4: Ipv4NetworksService;
  readonly ipv6: Ipv6NetworksService;
  private constructor(
    readonly url: string,
    readonly database: Database,
    readonly sql: pg.Client,
  ) {
    const reader = new ConfigurationReader(database);
    const propagation = {
      publish: () => Promise.resolve(),
      waitApplied: () => Promise.resolve({ applied: 0, total: 0 }),
    };
    const timeouts = { changeMs: 0, replacementMs: 0 };
    const writer = new ConfigurationWriter(database, propagation, timeouts);
    this.pages = new BlockPagesService(reader, writer);
    this.rules = new DomainListsService(writer);
    this.napts = new NaptService(reader, writer);
    this.ipv4 = new Ipv4NetworksService(reader, writer);
    this.ipv6 = new Ipv6NetworksService(reader, writer);
  }

  static async start(): Promise<Services> {
    const url = await createFreshDatabase(adminUrl);
    const sql = new pg.Client(url);
    await sql.connect();
    return new Services(url, new Database(url, pino({ level: 'silent' })), sql);
  }

  async stop(): Promise<void> {
    await this.sql.end();
    await this.database.close();
    await dropDatabase(adminUrl, this.url);
  }

  async empty(): Promise<void> {
    await this.sql.query(`
      TRUNCATE block_page, profile, domain_rule, ipv4_network, ipv6_network, napt_assignment, change, change_record CASCADE;
      UPDATE config_head SET revision = 0, digest = '0000000000000000';
      INSERT INTO profile (id) SELECT generate_series(1, ${PROFILES - 1})`);
  }

  /** Everything that changes leave behind: rows, log, head, and the groups of the log by transaction. */
  async rows(): Promise<Record<string, unknown[]>> {
    const all: Record<string, unknown[]> = {};
    for (const [name, order] of [
      ['block_page', '1'],
      ['domain_rule', '1, 2'],
      ['ipv4_network', '1'],
      ['ipv6_network', '1'],
      ['napt_assignment', '1, 2, 3'],
    ] as const) {
      all[name] = (await this.sql.query<object>(`SELECT * FROM ${name} ORDER BY ${order}`)).rows;
    }
    const log = 'SELECT revision, digest, operations FROM change ORDER BY 1';
    all['change'] = (await this.sql.query<object>(log)).rows;
    const records =
      "SELECT to_jsonb(change_record) - 'created_at' AS record FROM change_record ORDER BY revision";
    all['change_record'] = (await this.sql.query<object>(records)).rows;
    all['head'] = (await this.sql.query<object>('SELECT revision, digest FROM config_head')).rows;
    return all;
  }

  async transactions(): Promise<number> {
    const text = 'SELECT count(DISTINCT xmin::text)::int AS n FROM change';
    return (await this.sql.query<{ n: number }>(text)).rows[0]?.n ?? 0;
  }
}

type Request = (services: Services) => Promise<WithRevision<unknown>>;

const profile = fc.integer({ min: 1, max: PROFILES });
const few = fc.nat({ max: 4 });
const optional = <T>(name: string, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map((one) => (one === undefined ? {} : { [name]: one }));
const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object);

/** Adding, changing and deleting networks, with few addresses and prefixes, so that they often clash. */
function networks<A>(
  of: (services: Services) => {
    create: (record: never, location: string[]) => Promise<WithRevision<unknown>>;
    update: (address: never, patch: object, location: string[]) => Promise<WithRevision<unknown>>;
    remove: (address: never) => Promise<WithRevision<unknown>>;
  },
  address: fc.Arbitrary<A>,
  prefixLength: fc.Arbitrary<number>,
): fc.Arbitrary<Request> {
  const patch = merged(
    optional('address', address),
    optional('prefixLength', prefixLength),
    optional('profileId', profile),
  );
  return fc.oneof(
    fc.record({ address, prefixLength, profileId: profile }).map(
      (record): Request =>
        (s) =>
          of(s).create(record as never, LOCATION),
    ),
    fc.tuple(address, patch).map(
      ([key, change]): Request =>
        (s) =>
          of(s).update(key as never, change, LOCATION),
    ),
    address.map(
      (key): Request =>
        (s) =>
          of(s).remove(key as never),
    ),
  );
}

/** So few ranges that they often clash, and are often there to be changed and deleted. */
const naptPort = fc.nat({ max: 2 });
const naptKey = fc
  .record({ address: fc.nat({ max: 1 }), lowerPort: naptPort, width: fc.nat({ max: 1 }) })
  .map(({ address, lowerPort, width }) => ({ address, lowerPort, upperPort: lowerPort + width }));
const assignment = fc.record({ key: naptKey, profileId: profile }).map(({ key, profileId }) => {
  return { ...key, profileId };
});
const naptPatch = merged(
  optional('address', fc.nat({ max: 1 })),
  optional('lowerPort', naptPort),
  optional('upperPort', naptPort),
  optional('profileId', profile),
);
const verdict = fc.constantFrom(1 as const, 2 as const);

const requests: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 5,
    arbitrary: networks(
      (s) => s.ipv4,
      few.map((n) => 0x0a00_0000 + n),
      fc.integer({ min: 29, max: 32 }),
    ),
  },
  {
    weight: 3,
    arbitrary: networks(
      (s) => s.ipv6,
      few.map((n) => [0x2001_0db8, 0, 0, n] as const),
      fc.integer({ min: 126, max: 128 }),
    ),
  },
  {
    weight: 2,
    arbitrary: assignment.map(
      (one): Request =>
        (s) =>
          s.napts.create(one, NAPT_LOCATIONS.single),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.array(assignment, { minLength: 1, maxLength: 3 }).map(
      (all): Request =>
        (s) =>
          s.napts.createAll(all, NAPT_LOCATIONS.batch),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(naptKey, naptPatch).map(
      ([key, patch]): Request =>
        (s) =>
          s.napts.update(key, patch, NAPT_LOCATIONS.single),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.array(naptKey, { minLength: 1, maxLength: 2 }).map(
      (keys): Request =>
        (s) =>
          s.napts.remove(keys),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(profile, fc.array(few, { minLength: 1, maxLength: 3 }), verdict).map(
      ([id, hashes, one]): Request =>
        (s) =>
          s.rules.put(id, hashes, one),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(profile, few, verdict).map(
      ([id, hash, one]): Request =>
        (s) =>
          s.rules.update(id, hash, one),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(profile, few).map(
      ([id, hash]): Request =>
        (s) =>
          s.rules.remove(id, hash),
    ),
  },
  // These are not made together with others.
  {
    weight: 1,
    arbitrary: few.map(
      (id): Request =>
        (s) =>
          s.pages.create({ id, type: 0 }),
    ),
  },
  {
    weight: 1,
    arbitrary: few.map(
      (id): Request =>
        (s) =>
          s.pages.remove(id),
    ),
  },
);

const as = <T>(work: () => T): T => actAs({ origin: 'repair' }, work);

/** What the client would see. */
async function answer(request: Promise<WithRevision<unknown>>): Promise<unknown> {
  try {
    const { result, revision } = await request;
    return { result, revision };
  } catch (error) {
    if (error instanceof RequestError) return { code: error.code, detail: error.detail };
    if (error instanceof InvalidRequestError) return { faults: error.faults };
    throw error;
  }
}

describe('changes that are made together', () => {
  let together: Services;
  let alone: Services;

  beforeAll(async () => {
    [together, alone] = await Promise.all([Services.start(), Services.start()]);
  });
  afterAll(async () => {
    await Promise.all([together.stop(), alone.stop()]);
  });

  /** Sends all of them while the head is locked, so that they wait together. */
  const sendTogether = async (script: readonly Request[]): Promise<unknown[]> => {
    await together.sql.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    const answers = script.map((request) => answer(as(() => request(together))));
    await together.sql.query('COMMIT');
    return Promise.all(answers);
  };
  const sendAlone = async (script: readonly Request[]): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (const request of script) answers.push(await answer(as(() => request(alone))));
    return answers;
  };

  it('have the answers, revisions, log and rows that they have one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 60, maxLength: 150 }), async (script) => {
        await Promise.all([together.empty(), alone.empty()]);
        const [first, second] = await Promise.all([sendTogether(script), sendAlone(script)]);
        expect(first).toEqual(second);
        expect(await together.rows()).toEqual(await alone.rows());
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });

  it('are in one transaction', async () => {
    await together.empty();
    const addresses = Array.from({ length: 200 }, (_, n) => 0x0a00_0000 + n);
    const record = (address: number) => ({ address, prefixLength: 32, profileId: 1 });
    const answers = await sendTogether(
      addresses.map(
        (address): Request =>
          (s) =>
            s.ipv4.create(record(address), LOCATION),
      ),
    );
    expect(answers).toEqual(
      addresses.map((address, i) => ({ result: record(address), revision: i + 1 })),
    );
    // The first one may be made before the others wait.
    expect(await together.transactions()).toBeLessThanOrEqual(2);
  });

  it('are made one by one when a statement fails, and only the one that it fails for fails', async () => {
    await together.empty();
    await together.sql.query(
      'ALTER TABLE ipv4_network ADD CONSTRAINT odd CHECK (prefix_length <> 30)',
    );
    const create =
      (n: number, prefixLength: number): Request =>
      (s) =>
        s.ipv4.create({ address: 0x0a00_0000 + n * 8, prefixLength, profileId: 1 }, LOCATION);
    const script = [create(1, 32), create(2, 32), create(3, 30), create(4, 32), create(4, 31)];
    await together.sql.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    const all = script.map((request) => as(() => request(together)));
    await together.sql.query('COMMIT');
    const outcomes = await Promise.allSettled(all);
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
      answer(as(() => together.ipv4.create(one, LOCATION))),
    );
    const waiting = `
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect
      .poll(async () => (await together.sql.query(waiting)).rowCount, { timeout: 20_000 })
      .toBe(1);
    await other.query('COMMIT');
    await other.end();
    const [refused, made] = await Promise.all(all);
    expect(refused).toMatchObject({ code: 'conflict' });
    expect(made).toMatchObject({ revision: 1 });
  });
});
