import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { MAX_SAMPLES } from '../read/init.dto.js';
import { bodies } from './testing/bodies.js';
import { dryRunOf, replaceWith } from './testing/replace-with.js';

const adminUrl = inject('databaseUrl');
const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };

/** A stored record: its key, the key as it is shown, all of it, and the profile that it belongs to. */
interface Stored {
  readonly key: string;
  readonly shown: unknown;
  readonly value: string;
  readonly profile: number;
}

const network = (table: string) => `
  SELECT host(address) AS key, to_json(host(address) || '/' || prefix_length) AS shown,
         ${table}::text AS value, profile_id AS profile
  FROM ${table} ORDER BY address`;
const RECORDS = {
  blockpages: `
    SELECT id::text AS key, to_json(id) AS shown, block_page::text AS value FROM block_page ORDER BY id`,
  profiles: `
    SELECT id::text AS key, to_json(id) AS shown, id AS profile, profile::text || (
      SELECT coalesce(string_agg(application_rule::text, ' ' ORDER BY application_id), '')
      FROM application_rule WHERE profile_id = id) AS value
    FROM profile ORDER BY id`,
  bw_lists: `
    SELECT profile_id || ' ' || domain_hash AS key, domain_rule::text AS value, profile_id AS profile,
           json_build_object('profile_id', profile_id, 'domain_hash', domain_hash) AS shown
    FROM domain_rule ORDER BY profile_id, domain_hash`,
  napts: `
    SELECT host(address) || ':' || lower_port || '-' || upper_port AS key, napt_assignment::text AS value,
           to_json(host(address) || ':' || lower_port || '-' || upper_port) AS shown, profile_id AS profile
    FROM napt_assignment ORDER BY address, lower_port, upper_port`,
  nets: network('ipv4_network'),
  nets6: network('ipv6_network'),
} as const;
const SCHEDULES = `
  SELECT profile_id::text AS key, schedule::text AS value, profile_id AS profile FROM schedule`;

type Contents = Readonly<Record<string, readonly Stored[]>>;

/** What is different between two states of the database, found record by record. */
function differenceOf(before: Contents, after: Contents): unknown {
  const resources = Object.keys(RECORDS).map((list) => {
    const find = (all: Contents, { key }: Stored) => all[list].find((one) => one.key === key);
    const added = after[list].filter((one) => !find(before, one));
    const removed = before[list].filter((one) => !find(after, one));
    const both = after[list].filter((one) => find(before, one));
    const changed = both.filter((one) => find(before, one)?.value !== one.value);
    const shown = (some: readonly Stored[]) => some.map((one) => one.shown);
    const difference = {
      added: added.length,
      changed: changed.length,
      removed: removed.length,
      unchanged: both.length - changed.length,
      samples: { added: shown(added), changed: shown(changed), removed: shown(removed) },
    };
    return [list, difference];
  });
  /** Everything that a subscriber gets by its profile. */
  const content = (all: Contents, id: number) =>
    JSON.stringify(
      ['profiles', 'bw_lists', 'schedules'].map((list) =>
        all[list].filter(({ profile }) => profile === id),
      ),
    );
  const subscribers = ['napts', 'nets', 'nets6'].flatMap((list) => {
    const keys = new Set([...before[list], ...after[list]].map(({ key }) => key));
    return Array.from(keys, (key) => {
      const [old, now] = [before, after].map((all) => all[list].find((one) => one.key === key));
      return (
        old?.value !== now?.value || content(before, old!.profile) !== content(after, now!.profile)
      );
    });
  });
  return {
    resources: Object.fromEntries(resources) as object,
    subscribers_affected: subscribers.filter(Boolean).length,
  };
}

describe('a dry run of POST /init/', () => {
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

  const contents = async (): Promise<Contents> => {
    const all: Record<string, Stored[]> = {};
    for (const [list, query] of Object.entries({ ...RECORDS, schedules: SCHEDULES })) {
      all[list] = (await client.query<Stored>(query)).rows;
    }
    return all;
  };

  it('says what the replacement then does, from any small configuration to any other', async () => {
    const schedules = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 })), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(bodies, bodies, schedules, async (first, second, wanted) => {
        await replaceWith(client, EMPTY);
        await replaceWith(client, first);
        for (const pair of wanted) {
          await client.query(
            `INSERT INTO schedule (profile_id, target_profile_id, periods)
             SELECT one.id, other.id, '[]' FROM profile AS one, profile AS other
             WHERE one.id = $1 AND other.id = $2 AND one.id <> other.id ON CONFLICT DO NOTHING`,
            pair,
          );
        }
        const before = await contents();
        const said = await dryRunOf(client, second);
        expect(await contents()).toEqual(before);
        await replaceWith(client, second);
        const after = await contents();
        expect(said).toEqual(differenceOf(before, after));
        expect(await dryRunOf(client, second)).toEqual(differenceOf(after, after));
      }),
      { numRuns: 30, endOnFailure: true },
    );
  }, 240_000);

  const ONE = { profile: { id: 1, page_id: 7 }, cat_ids: [5], apps: [{ app_id: 1 }] };
  const TWO = { profile: { id: 2 }, cat_ids: [], apps: [] };
  const BASE = {
    ...EMPTY,
    blockpages: [{ id: 7, type: 0 }],
    profiles: [ONE, TWO],
    bw_lists: [{ profile_id: 1, type: 'deny', domains: ['example.com'] }],
    nets: [
      { ip: '192.0.2.1', profile_id: 1 },
      { ip: '192.0.2.2', profile_id: 2 },
    ],
    nets6: [{ ip: '2001:db8::1', profile_id: 1 }],
  };

  it.each<[string, number, object]>([
    ['nothing', 0, {}],
    ['only the type of a block page', 0, { blockpages: [{ id: 7, type: 1 }] }],
    [
      'a flag of the profile',
      2,
      { profiles: [{ ...ONE, profile: { ...ONE.profile, empty_dns_answer: true } }, TWO] },
    ],
    ['its categories', 2, { profiles: [{ ...ONE, cat_ids: [5, 6] }, TWO] }],
    [
      'the verdict of its application',
      2,
      { profiles: [{ ...ONE, apps: [{ app_id: 1, status: 'allow' }] }, TWO] },
    ],
    ['the type of its domain', 2, { bw_lists: [{ ...BASE.bw_lists[0], type: 'allow' }] }],
    [
      'a domain more',
      2,
      { bw_lists: [{ ...BASE.bw_lists[0], domains: ['example.com', 'example.net'] }] },
    ],
    ['no domain', 2, { bw_lists: [] }],
    [
      'the target of its schedule is gone, with its network',
      3,
      { profiles: [ONE], nets: [BASE.nets[0]] },
    ],
    [
      'one network has another profile',
      1,
      { nets: [BASE.nets[0], { ip: '192.0.2.2', profile_id: 1 }] },
    ],
  ])(
    'counts the subscribers for whom something is different: %s',
    async (_what, expected, other) => {
      await replaceWith(client, EMPTY);
      await replaceWith(client, BASE);
      await client.query(
        "INSERT INTO schedule (profile_id, target_profile_id, periods) VALUES (1, 2, '[]')",
      );
      const said = await dryRunOf(client, { ...BASE, ...other });
      expect(said.subscribers_affected).toBe(expected);
    },
  );

  it('counts the subscribers of a profile with a grant that holds: the replacement removes it', async () => {
    await replaceWith(client, EMPTY);
    await replaceWith(client, BASE);
    await client.query(`
      INSERT INTO domain_grant VALUES (1, 2, 1, now() + interval '1 day'), (2, 2, 1, now() - interval '1 day')`);
    expect((await dryRunOf(client, BASE)).subscribers_affected).toBe(2);
    await replaceWith(client, BASE);
    expect((await dryRunOf(client, BASE)).subscribers_affected).toBe(0);
  });

  it('counts all, and names at most a hundred of each', async () => {
    const profiles = [{ profile: { id: 1 }, cat_ids: [], apps: [] }];
    const nets = (first: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ ip: `10.0.${first + i}.0`, profile_id: 1 }));
    await replaceWith(client, { ...EMPTY, profiles, nets: nets(0, 120) });
    const { resources, subscribers_affected } = await dryRunOf(client, {
      ...EMPTY,
      profiles,
      nets: nets(110, 130).map((one) => ({ ...one, prefix_len: 24 })),
    });
    const { samples, ...counts } = resources.nets;
    expect(counts).toEqual({ added: 120, changed: 10, removed: 110, unchanged: 0 });
    expect(subscribers_affected).toBe(240);
    const ips = (first: number, count: number, length: number) =>
      nets(first, count).map(({ ip }) => `${ip}/${length}`);
    expect(samples).toEqual({
      added: ips(120, MAX_SAMPLES, 24),
      changed: ips(110, 10, 24),
      removed: ips(0, MAX_SAMPLES, 32),
    });
  });
});
