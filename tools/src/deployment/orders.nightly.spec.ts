import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  DENIED,
  DOMAINS,
  expectEffectOfChanges,
  ORDERED,
  OrdersDeployment,
  SUBSCRIBER,
  TEXTS,
} from '../testing/orders-deployment.js';
import { UPSTREAM_ADDRESS } from './dns-message.js';

let all: OrdersDeployment;
beforeAll(async () => {
  all = await OrdersDeployment.start();
});
afterAll(() => all.stop());

it('each of 1,000 changes of orders and grants decides the next query to every resolver', () =>
  expectEffectOfChanges(all, 1_000));

const root = new URL('../../../', import.meta.url).pathname;
const run = promisify(execFile);

it('the commands of docs/orders.md say what the page says they do', async () => {
  const { clients, managementPorts, dnsPorts } = all.processes;
  const page = readFileSync(`${root}docs/orders.md`, 'utf8');
  const [, ...blocks] = [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block);
  const env = {
    ...process.env,
    PATH: `${root}apps/cli:${process.env['PATH']}`,
    WEIR_URL: `http://127.0.0.1:${managementPorts[0]}`,
  };
  const weir = async (command: string, WEIR_TOKEN = '') => {
    const options = { env: { ...env, WEIR_TOKEN }, cwd: all.folder };
    return (await run('bash', ['-euc', command], options)).stdout;
  };
  expect(page).toContain('`weir token create legal-anna write`');
  const created = await weir('weir token create legal-anna write');
  const token = /^[\w-]{43}$/m.exec(created)?.[0] ?? '';
  writeFileSync(all.tokens, created.slice(created.indexOf('- name')));
  await expect
    .poll(() => weir('weir token show', token).catch(String), { timeout: 60_000 })
    .toMatch(/^scope +write$/m);
  const names = ['101 many-a.example', '102 many-b.example', '103 many-c.example'];
  writeFileSync(join(all.folder, 'names.txt'), `${names.join('\n')}\n`);
  // How many resolvers have said so is not compared: one that stalls for seconds is missing.
  const outputs: string[] = [];
  for (const block of blocks) {
    const script = block
      .replace('@192.0.2.53', `@127.0.0.1 -p ${dnsPorts[0]} +retry=0 +time=60`)
      .replace('192.0.2.1 ', `${SUBSCRIBER} `);
    outputs.push(await weir(script, token));
  }
  const [added, many, blocked, listed, proven, dated, ended, report] = outputs;
  expect(outputs).toHaveLength(8);
  for (const id of [101, 102, 103]) {
    expect(many).toMatch(new RegExp(`^order ${id} is in force on \\d/\\d resolvers, `, 'm'));
    expect(many).toMatch(new RegExp(`^${id} +in_force +- +\\d{4}-.* 12 O 346/26$`, 'm'));
  }
  expect(many).not.toContain('12 O 345/26');
  expect(added).toMatch(/^order 7 is in force on \d\/\d resolvers, revision \d+, /);
  expect(blocked).toMatch(new RegExp(`^example\\.org\\.\\s+\\d+\\s+IN\\s+A\\s+${ORDERED}`));
  expect(blocked).toMatch(/^=> +order +deny +example.org +order_id 7$/m);
  expect(listed).toMatch(
    /^7 +in_force +- +\d{4}-\S+Z +\d\/\d +District Court of Exampleton +12 O 345\/26$/m,
  );
  for (const said of [proven, dated]) {
    expect(said).toMatch(/^order 7 is in force on \d\/\d resolvers, revision \d+, /);
  }
  expect(ended).toMatch(/^the end of order 7 is in force on \d\/\d resolvers, revision \d+, /);
  // By its revision each record belongs to the line that the command printed.
  const revisionIn = (line: string) => /revision (\d+),/.exec(line)?.[1];
  for (const [line, change] of [
    [added, 'POST /orders/ +orders 7 '],
    [proven, 'PATCH /orders/:id +orders 7 '],
    [dated, 'PATCH /orders/:id +orders 7 '],
    [ended, 'DELETE /orders/:id +deleted orders 7 '],
  ] as const) {
    const record = `^ *${revisionIn(line)} +\\d{4}-\\S+Z +legal-anna +${change}`;
    expect(report).toMatch(new RegExp(record, 'm'));
  }
  expect(report.match(/ legal-anna /g)).toHaveLength(7);
  expect((await clients[0].call('GET', '/orders/7')).status).toBe(404);
});

let nextOrder = 1_000;
const NEAR_THE_END_MS = 1_000;
const cases = [
  {
    what: 'the control plane is frozen',
    seconds: 8,
    cutOff: () => Promise.resolve(all.processes.replicas[0].pause()),
    restore: () => Promise.resolve(all.processes.replicas[0].resume()),
  },
  {
    what: 'PostgreSQL and Redis are gone, and a resolver is started from its disk',
    seconds: 15,
    cutOff: async () => {
      await Promise.all([all.processes.postgres.stop('SIGINT'), all.processes.redis.kill()]);
      await all.processes.resolvers[0].kill();
      await all.processes.resolvers[0].start();
    },
    restore: () => Promise.all([all.processes.postgres.start(), all.processes.redis.start()]),
  },
];

it.each(cases)('an order and a grant end at their second while $what', async (one) => {
  const [free = '', denied = ''] = DOMAINS;
  const names = [
    { qname: free, held: ORDERED, ended: UPSTREAM_ADDRESS },
    { qname: denied, held: UPSTREAM_ADDRESS, ended: DENIED },
  ];
  const revisions = () =>
    Promise.all(
      all.processes.resolvers.map((resolver) => resolver.metric('weir_resolver_revision')),
    );
  const put = async (until: string): Promise<void> => {
    await all.change('POST', '/orders/', { id: nextOrder++, domain: free, ...TEXTS, until });
    await all.change('POST', '/profile/1/grants', { domain: denied, verdict: 'allow', until });
  };
  /** All is cut off before the end, which is twice as far away if it was not. */
  const begin = async (seconds: number): Promise<{ endMs: number; before: number[] }> => {
    const endMs = (Math.floor(Date.now() / 1_000) + seconds) * 1_000;
    await expect
      .poll(() => put(new Date(endMs).toISOString()).then(() => 'put', String))
      .toBe('put');
    const before = await revisions();
    await one.cutOff();
    if (Date.now() < endMs - 1_000) return { endMs, before };
    await one.restore();
    return begin(2 * seconds);
  };
  const { endMs, before } = await begin(one.seconds);
  let [held, ended] = [0, 0];
  // Often around the end. What ends too early stays ended, so that a query now and then finds it.
  const pauseMs = (): number => (Date.now() < endMs - NEAR_THE_END_MS ? 100 : 3);
  for (let isOver = false; !isOver; await sleep(pauseMs())) {
    isOver = Date.now() >= endMs;
    for (const name of names) {
      for (const resolver of all.processes.resolvers.keys()) {
        const sentMs = Date.now();
        const seen = await all.ask(resolver, SUBSCRIBER, name.qname);
        // A query that is under way at the end may be answered either way.
        if (Date.now() < endMs) {
          held++;
          expect([name.qname, seen]).toEqual([name.qname, name.held]);
        } else if (sentMs >= endMs) {
          ended++;
          expect([name.qname, seen]).toEqual([name.qname, name.ended]);
        }
      }
    }
  }
  expect(held).toBeGreaterThan(0);
  expect(ended).toBeGreaterThanOrEqual(4);
  expect(await revisions()).toEqual(before);
  await one.restore();
});
