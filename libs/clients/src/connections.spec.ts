import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientAddress } from '@weir/policy';
import { ConnectionPool, type PooledConnection } from './connections.js';
import { SubscriberKey } from './subscriber-key.js';

function poolOf(maxConnections: number, maxPerSubscriber: number) {
  const subscriber = new SubscriberKey({ policy: null }, 1);
  const evicted: string[] = [];
  const pool = new ConnectionPool({
    maxConnections,
    maxPerSubscriber,
    subscriber,
    isAllowed: ({ family, words }) => family === 4 && words[0] >>> 24 === 10,
    onEvicted: () => evicted.push('one'),
  });
  const open = (address: string, close = () => undefined as unknown) => {
    const client = new ClientAddress();
    client.set(address, 1);
    return pool.acquire(client, close);
  };
  return { pool, open, evicted };
}

describe('ConnectionPool', () => {
  it('closes the oldest connection of the subscriber with the most', () => {
    const { open, evicted } = poolOf(8, 4);
    const closed: string[] = [];
    for (const [i, address] of ['10.0.0.1', '10.0.0.2', '10.0.0.1', '10.0.0.1'].entries())
      open(address, () => closed.push(`${address} ${i}`));
    for (const last of [3, 4, 5, 6]) open(`10.0.0.${last}`);
    expect(open('10.0.0.7')).not.toBeNull();
    expect(closed).toEqual(['10.0.0.1 0']);
    expect(evicted).toHaveLength(1);
  });

  it('refuses one more when all have as many', () => {
    const { open } = poolOf(8, 4);
    for (let last = 1; last <= 8; last++) expect(open(`10.0.0.${last}`)).not.toBeNull();
    expect(open('10.0.0.9')).toBeNull();
  });

  it('never takes a connection of a subscriber for a stranger', () => {
    const { open } = poolOf(16, 16);
    let closed = 0;
    for (let n = 0; n < 16; n++) open('10.0.0.1', () => closed++);
    for (let n = 0; n < 16; n++) expect(open(`192.0.2.${n}`)).toBeNull();
    expect(closed).toBe(0);
  });

  it('keeps its limits, and always has room for one who has less than others', () => {
    const addresses = fc.constantFrom(
      ...['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'],
      ...['192.0.2.1', '192.0.2.2', '198.51.100.1', '2001:db8:1::1', '2001:db8:2::1'],
    );
    const step = fc.record({ address: addresses, closes: fc.nat(30), isOpening: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { pool, open } = poolOf(16, 6);
        const live = new Map<PooledConnection, string>();
        for (const { address, closes, isOpening } of steps) {
          if (!isOpening) {
            const connection = [...live.keys()][closes];
            if (connection === undefined) continue;
            pool.release(connection);
            pool.release(connection);
            live.delete(connection);
            continue;
          }
          let taken: PooledConnection | null = null;
          const before = [...live.values()];
          taken = open(address, () => {
            if (taken !== null) live.delete(taken);
          });
          const own = before.filter((one) => one === address).length;
          if (taken !== null) live.set(taken, address);
          else if (address.startsWith('10.') && own < 6)
            for (const other of before)
              expect(before.filter((one) => one === other).length).toBeLessThanOrEqual(own + 1);
          expect(live.size).toBe(pool.size);
          const all = [...live.values()];
          expect(all.length).toBeLessThanOrEqual(16);
          expect(all.filter((one) => !one.startsWith('10.')).length).toBeLessThanOrEqual(2);
          expect(all.filter((one) => one === address).length).toBeLessThanOrEqual(6);
        }
      }),
    );
  });
});
