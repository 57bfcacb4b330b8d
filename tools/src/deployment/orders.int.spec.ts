import { setTimeout as sleep } from 'node:timers/promises';
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

it('a change of an order or a grant decides the next query to every resolver', () =>
  expectEffectOfChanges(all, 50));

let nextOrder = 1_000;
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
  for (let isOver = false; !isOver; await sleep(3)) {
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
