import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from './deployment.js';
import { DnsClient } from './dns-client.js';
import type { Answer, ManagementClient } from './management-client.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-resolvers-'));
const WAIT = { timeout: 100_000 };
const dns = new DnsClient();
let deployment: Deployment;
let page = 0;

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly revision: number;
  readonly last_seen: string;
  readonly [field: string]: unknown;
}

beforeAll(async () => {
  deployment = await Deployment.create({
    ...{ folder, replicas: 2, resolvers: 2, fsync: false },
    replicaVariables: () => ({ MISSING_RESOLVER_S: '86400' }),
    resolverVariables: (i) => (i === 0 ? { RESOLVER_NAME: 'a' } : {}),
  });
  await deployment.start();
});
afterAll(async () => {
  await dns.close();
  await deployment.stop();
  rmSync(folder, { recursive: true });
});

async function list(client: ManagementClient): Promise<Listed[]> {
  const reply = await client.call('GET', '/resolvers/');
  if (reply.status !== 200) throw new Error(JSON.stringify(reply));
  return JSON.parse(reply.text) as Listed[];
}

/** The same field of each resolver, as each replica lists them. */
async function fields(name: keyof Listed): Promise<unknown[][]> {
  const lists = await Promise.all(deployment.clients.map(list));
  return lists.map((all) => all.map((one) => one[name]));
}

function change(): Promise<Answer> {
  return deployment.clients[0].change('POST', '/blockpage/', { id: ++page, type: 0 });
}

it('every replica lists every resolver: its name, address, version, catalogue, threads and upstreams', async () => {
  const [first, second] = deployment.dnsPorts;
  const upstreams = [{ address: expect.stringMatching(/^127\.0\.0\.1:\d+$/), state: 'up' }];
  const about = {
    ...{ state: 'live', behind_revisions: 0, behind_seconds: 0, upstreams },
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    threads: expect.toSatisfy((threads: number) => threads >= 1),
    catalogue: expect.any(Number),
    answers_per_second: expect.any(Number),
  };
  const expected = [
    { ...about, name: 'a', address: `127.0.0.1:${first}` },
    { ...about, name: `${hostname()}:${second}`, address: `127.0.0.1:${second}` },
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const client of deployment.clients) {
    await expect.poll(() => list(client), WAIT).toMatchObject(expected);
  }
  const { revision } = await change();
  const inForce = expect.toSatisfy((newest: number) => newest >= revision);
  await expect
    .poll(() => fields('revision'), WAIT)
    .toEqual([
      [inForce, inForce],
      [inForce, inForce],
    ]);
});

it('a resolver tells how much it answers, from its cache and blocked', async () => {
  const [client] = deployment.clients;
  await client.change('POST', '/profiles/', { profile: { id: 1 }, cat_ids: [12] });
  await client.change('POST', '/net/', { ip: '127.0.0.1', profile_id: 1 });
  const ask = async (name: string) => {
    await dns.ask('127.0.0.1', deployment.dnsPorts[0], name);
    const all = await list(client);
    return all.find((one) => one.name === 'a');
  };
  const some = expect.toSatisfy((n: number) => n > 0);
  const blocks = { answers_per_second: some, blocked_ratio: some };
  await expect.poll(() => ask('casino.example.com'), WAIT).toMatchObject(blocks);
  await expect.poll(() => ask('www.example.net'), WAIT).toMatchObject({ cache_hit_ratio: some });
});

it('one that died is missing, and takes its place again when it is back under its name', async () => {
  const [resolver] = deployment.resolvers;
  const states = async () => (await fields('state')).map((all) => all.toSorted());
  const bothLive = Array.from({ length: 2 }, () => ['live', 'live']);
  await expect.poll(states, WAIT).toEqual(bothLive);
  const [before] = (await list(deployment.clients[0])).filter(({ name }) => name === 'a');
  await resolver.kill();
  await expect.poll(states, WAIT).toEqual([
    ['live', 'missing'],
    ['live', 'missing'],
  ]);
  const pagesBefore = page;
  await expect.poll(change, WAIT).toMatchObject({ applied: 1, total: 2 });
  const [missing] = (await list(deployment.clients[0])).filter(({ name }) => name === 'a');
  expect(missing).toMatchObject({ id: before.id, address: before['address'] });
  expect(missing).toMatchObject({
    revision: before.revision,
    behind_revisions: page - pagesBefore,
  });
  expect(missing['behind_seconds']).toBeGreaterThanOrEqual(0);
  await resolver.start();
  await expect.poll(states, WAIT).toEqual(bothLive);
  expect(await change()).toMatchObject({ total: 2 });
  const [back] = (await list(deployment.clients[1])).filter(({ name }) => name === 'a');
  expect(back.id).not.toBe(before.id);
});

it('a replica that starts knows of one that died before', async () => {
  await deployment.resolvers[0].kill();
  await deployment.replicas[1].kill();
  await deployment.replicas[1].start();
  const known = async () => {
    const all = await list(deployment.clients[1]);
    return all.find(({ name }) => name === 'a');
  };
  const lastSaid = { state: 'missing', address: `127.0.0.1:${deployment.dnsPorts[0]}` };
  await expect.poll(known, WAIT).toMatchObject(lastSaid);
  await deployment.resolvers[0].start();
  await expect.poll(known, WAIT).toMatchObject({ state: 'live' });
});

it('without Redis the list has what was known, and since when; a replica that starts knows nothing', async () => {
  const [client, other] = deployment.clients;
  const upToDate = { state: 'live', behind_revisions: 0 };
  await expect.poll(() => list(client), WAIT).toMatchObject([upToDate, upToDate]);
  await deployment.redis.kill();
  await change();
  const [known] = await list(client);
  expect(known).toMatchObject({
    name: expect.any(String),
    behind_revisions: 1,
    state: 'catching_up',
  });
  const silence = async () => Date.now() - Date.parse((await list(client))[0].last_seen);
  await expect.poll(silence, WAIT).toBeGreaterThan(5_000);
  await deployment.replicas[1].kill();
  await deployment.replicas[1].start();
  expect(await list(other)).toEqual([]);
  await deployment.redis.start();
  for (const one of deployment.clients) {
    await expect.poll(() => list(one), WAIT).toMatchObject([{ state: 'live' }, { state: 'live' }]);
  }
});
