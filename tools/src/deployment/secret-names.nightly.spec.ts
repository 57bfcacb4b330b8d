import { Redis } from 'ioredis';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_PAGE_ADDRESS, Deployment } from './deployment.js';
import { DnsClient } from './dns-client.js';

const WAIT = { timeout: 120_000, interval: 200 };
const SUBSCRIBER = '127.0.0.1';
/** Has no profile. */
const STRANGER = '127.0.0.2';
/** The names of a secret category: in the definition, in a list, and one that is well known. */
const SECRET = ['inline-zq.example', 'listed-zq.example', 'wikipedia.org'];
/** A list must not block it, and the secret one would. */
const PROTECTED = 'shielded-zq.example';
const ORDERED = 'ordered-zq.example';
const OF_PROFILE = ['granted-zq.example', 'ruled-zq.example'];
const NAMES = /(?:inline|listed|shielded|ordered|granted|ruled|broken)-zq|wikipedia/i;
const NAME_OF_CATEGORY = /Unspeakable/;
/** Nobody hides it. */
const OPEN = 'casino-zq.example';

let folder: string;
let all: Deployment;
let dns: DnsClient;
/** What anybody said on Redis. */
const said: string[] = [];
let listener: Redis;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-secret-'));
  const catalogue = join(folder, 'lists');
  mkdirSync(catalogue);
  writeFileSync(
    join(catalogue, 'secret.txt'),
    `listed-zq.example\nbroken-zq..example\n${PROTECTED}\n`,
  );
  // Of several categories the lowest id counts: the secret one.
  writeFileSync(
    join(catalogue, 'catalogue.yaml'),
    `never_block: [${PROTECTED}]
categories:
  - id: 1
    name: Unspeakable
    purpose: security
    mandatory: true
    secret: true
    domains: [inline-zq.example, wikipedia.org, ${OPEN}]
    sources: [{ file: secret.txt, format: domains }]
  - { id: 2, name: Gambling, purpose: parental, domains: [${OPEN}] }
`,
  );
  all = await Deployment.create({
    ...{ folder, replicas: 1, resolvers: 2, blockPages: 1, fsync: false },
    replicaVariables: () => ({ CATALOGUE: catalogue, LOG_LEVEL: 'debug' }),
    resolverVariables: () => ({ LOG_LEVEL: 'debug', METRICS_PROFILES: '10' }),
  });
  dns = new DnsClient();
  await all.start();
  listener = new Redis(all.redisUrl);
  listener.on('pmessage', (_pattern, channel, message) => said.push(`${channel} ${message}`));
  await listener.psubscribe('*');
});
afterAll(async () => {
  listener.disconnect();
  await dns.close();
  await all.stop();
  rmSync(folder, { recursive: true });
});

const call = async (path: string, accept = 'application/json', method = 'GET', body?: string) => {
  const response = await fetch(`http://127.0.0.1:${all.managementPorts[0]}${path}`, {
    ...{ method, body: body ?? null },
    headers: {
      Authorization: `Bearer ${all.secrets.token}`,
      Accept: accept,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
  });
  return { status: response.status, text: await response.text() };
};
const read = async (path: string): Promise<string> => {
  const { status, text } = await call(path);
  expect([path, status]).toEqual([path, 200]);
  return text;
};
/** The answers to a query from a source of all resolvers. */
const ask = (source: string, name: string) =>
  Promise.all(all.dnsPorts.map(async (port) => (await dns.ask(source, port, name)).seen));
/** What the block page shows a visitor. */
const visit = (host: string) =>
  new Promise<string>((resolve, reject) => {
    const headers = { Host: host, Accept: 'text/html' };
    get(`http://127.0.0.1:${all.pagePorts[0]}/`, { headers }, (response) => {
      let text = JSON.stringify(response.headers);
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        resolve(text);
      });
    }).on('error', reject);
  });
const opsOf = async (path: string): Promise<string[]> =>
  Promise.all(
    [...all.replicas, ...all.resolvers, ...all.blockPages].map(async ({ opsUrl }) =>
      (await fetch(`${opsUrl}${path}`)).text(),
    ),
  );
/** The stream of changes up to that revision. */
async function follow(revision: number): Promise<string> {
  const headers = { Authorization: `Bearer ${all.secrets.token}`, Accept: 'text/event-stream' };
  const ending = new AbortController();
  const url = `http://127.0.0.1:${all.managementPorts[0]}/changes/?after=0`;
  const { body } = await fetch(url, { headers, signal: ending.signal });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(`id: ${revision}\n`)) break;
  }
  ending.abort();
  return text;
}

interface Explanation {
  readonly steps: readonly { readonly step: string; readonly verdict: string }[];
}
const explain = async (client: string, domain: string) =>
  JSON.parse(await read(`/explain/?client=${client}&domain=${domain}`)) as Explanation;

describe('the names of a secret category, and of orders, rules and grants,', () => {
  let last = 0;

  it('are denied by every resolver', async () => {
    const [client] = all.clients;
    const texts = { authority: 'District Court', reference: '12 O 345/26' };
    await client.change('POST', '/blockpage/', { id: 1, type: 0 });
    await client.change('POST', '/profiles/', {
      profile: { id: 1, page_id: 1 },
      // The profile blocks the secret category as well.
      cat_ids: [1, 2],
    });
    await client.change('POST', '/net/', { ip: SUBSCRIBER, profile_id: 1 });
    await client.change('POST', '/orders/', { id: 7, domain: ORDERED, ...texts });
    await client.change('PATCH', '/orders/7', { domain: ORDERED });
    const [granted, ruled] = OF_PROFILE;
    await client.change('POST', '/profile/1/grants', {
      domain: granted,
      verdict: 'deny',
      minutes: 9,
    });
    await client.change('POST', '/profile/1/bw_list', { type: 'deny', domain: ruled });
    last = (await client.change('PATCH', '/orders/7', {})).revision;
    const isListed = async () => (await ask(STRANGER, 'www.listed-zq.example')).join(' ');
    const everywhere = `${DEFAULT_PAGE_ADDRESS} ${DEFAULT_PAGE_ADDRESS}`;
    await expect.poll(isListed, WAIT).toBe(everywhere);
    for (const name of [...SECRET, ORDERED]) {
      for (const source of [SUBSCRIBER, STRANGER]) {
        expect((await ask(source, `www.${name}`)).join(' ')).toBe(everywhere);
      }
    }
  });

  it('are in no answer of the API but to whom names them', async () => {
    const answers = [
      '/changes/?after=0&limit=1000',
      '/changes/?last=1000',
      '/changes/?after=0&profile_id=1',
      '/changes/?after=0&token=env-1',
      '/resolvers/',
      '/catalogue/',
      '/categories/',
      '/profiles/',
      '/profiles/1',
      '/profile/1/subscribers',
      '/profile/1/grants',
      '/orders/',
      '/orders/?search=zq',
      '/orders/7',
      '/token/',
    ];
    for (const path of answers) {
      const text = await read(path);
      expect(text).not.toMatch(NAMES);
      expect(text).not.toMatch(NAME_OF_CATEGORY);
    }
    expect(await follow(last)).not.toMatch(NAMES);
    expect(JSON.parse(await read('/categories/'))).toMatchObject([
      { id: 1, secret: true },
      { id: 2, name: 'Gambling' },
    ]);
    expect(JSON.parse(await read('/catalogue/'))).toMatchObject({
      popular: [{ cat_id: 1, count: 1 }],
      sources: [{ cat_id: 1, source: 'secret.txt', names: 2, state: 'good' }],
    });
    for (const name of SECRET) {
      expect(await read(`/catalogue/search/?domain=www.${name}`)).toBe('[]');
    }
    expect(JSON.parse(await read(`/catalogue/search/?domain=${OPEN}`))).toMatchObject([
      { cat_id: 2, name: 'Gambling' },
    ]);
  });

  it.each([SUBSCRIBER, STRANGER])(
    'are not explained to %s, whatever its profile blocks',
    async (client) => {
      const DENIED = { step: 'order', verdict: 'deny', matched: null, decided: true };
      for (const name of SECRET) {
        const found = await explain(client, `www.${name}`);
        expect(found).toMatchObject({ verdict: 'deny', target: null, since: null, flip: null });
        const [first, ...others] = found.steps;
        expect(first).toEqual(DENIED);
        const said = others.filter(({ step, verdict }) => step !== 'default' && verdict !== 'none');
        expect(said).toEqual([]);
        expect(JSON.stringify({ ...found, domain: '' })).not.toMatch(NAMES);
      }
      // What the profile blocks besides is explained as if the secret category were not among it.
      const { steps } = await explain(client, OPEN);
      expect(steps[0]).toEqual(DENIED);
      const gambling = { verdict: 'deny', matched: OPEN, cat_id: 2, name: 'Gambling' };
      expect(steps.filter(({ step }) => step === 'category')).toMatchObject(
        client === STRANGER ? [] : [gambling],
      );
    },
  );

  it('are in no error', async () => {
    const [secret] = SECRET;
    const order = { id: 9, domain: `${secret}..`, authority: 'a', reference: 'b' };
    const faults = [
      await call('/orders/', undefined, 'POST', JSON.stringify(order)),
      await call('/orders/', undefined, 'POST', JSON.stringify({ ...order, [ORDERED]: 1 })),
      await call(`/profile/1/bw_list/www.${secret}`, undefined, 'DELETE'),
      await call('/profile/1/grants', undefined, 'POST', JSON.stringify({ domain: `-${secret}` })),
      await call(`/catalogue/search/?domain=${secret}..`),
      await call(`/explain/?client=127.0.0.1&domain=${secret}..`),
      await call(`/explain/?client=${secret}&domain=${ORDERED}`),
      await call(`/orders/?search=x&after=${secret}`),
      await call(`/changes/?token=${secret}&after=x`),
      await call(`/orders/${secret}`),
      await call('/catalogue/accept', undefined, 'POST', '{"cat_id": 1, "source": "secret.txt"}'),
    ];
    for (const { status, text } of faults) {
      expect(status).toBeGreaterThanOrEqual(400);
      // The name of an unknown field is that of the caller.
      expect(text.replace(`"${ORDERED}"`, '')).not.toMatch(NAMES);
      expect(text).not.toMatch(NAME_OF_CATEGORY);
    }
  });

  it('are not on the block page, which says "by law"; an order is named by its texts', async () => {
    for (const name of SECRET) {
      const page = await visit(`www.${name}`);
      expect(page).toContain('blocked by law');
      expect(page).not.toMatch(NAMES);
      expect(page).not.toMatch(NAME_OF_CATEGORY);
    }
    expect(await visit(`www.${ORDERED}`)).toMatch(/District Court[^]*12 O 345\/26/);
  });

  it('are in no metric, and no state of a process', async () => {
    const texts = [...(await opsOf('/metrics')), ...(await opsOf('/readyz'))].join('\n');
    expect(texts).not.toMatch(NAMES);
    expect(texts).not.toMatch(NAME_OF_CATEGORY);
    // A secret category is counted as an order is.
    expect(texts).toMatch(/weir_resolver_\w*\{[^}]*reason="order"[^}]*\} [1-9]/);
    expect(texts).not.toMatch(/reason="mandatory_category"[^}]*\} [1-9]/);
  });

  it('are in no log, in no message, and on no disk', async () => {
    const { length } = said;
    await call('/orders/7', undefined, 'PATCH', '{}');
    await expect.poll(() => said.length, WAIT).toBeGreaterThan(length);
    expect(said.join('\n')).not.toMatch(NAMES);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => /\.log$|\/resolver-\d\//.test(file));
    expect(files.length).toBeGreaterThan(8);
    for (const file of files) {
      const text = readFileSync(file, 'latin1');
      expect([file, NAMES.exec(text)?.[0]]).toEqual([file, undefined]);
      expect([file, NAME_OF_CATEGORY.exec(text)?.[0]]).toEqual([file, undefined]);
    }
  });

  it('are hashes in the database', async () => {
    const client = new pg.Client(all.postgres.url);
    onTestFinished(() => client.end());
    await client.connect();
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    let rows = 0;
    for (const { name } of tables.rows) {
      const content = await client.query<{ text: string }>(
        `SELECT one::text AS text FROM ${name} AS one`,
      );
      rows += content.rows.length;
      const text = content.rows.map((row) => row.text).join('\n');
      expect([name, NAMES.exec(text)?.[0]]).toEqual([name, undefined]);
    }
    expect(rows).toBeGreaterThan(10);
  });
});
