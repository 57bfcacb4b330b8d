import type { ManagementClient } from '@weir/tools/deployment/management-client';
import { startUpstream, UPSTREAM_ADDRESS } from '@weir/tools/deployment/dns-message';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { LocalStack } from './testing/local-stack.js';
import { PORTS } from './testing/ports.js';
import { ask } from './testing/resolver-client.js';

const FIRST = ['127.0.0.2', '::1'];
const SECOND = ['127.0.0.3'];
const BLOCKED = ['127.0.0.1'];

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let stack: LocalStack;
let api: ManagementClient;

const answers = (addresses: readonly string[], qname: string) =>
  Promise.all([
    ...addresses.map((address) => ask(PORTS.dns, qname, { address })),
    // The client has no TCP over IPv6.
    ...addresses
      .filter(isIPv4)
      .map((address) => ask(PORTS.dns, qname, { address, protocol: 'tcp' })),
  ]);
const resolverOn = (addresses: readonly string[]) => {
  const variable = `DNS_HOST=${addresses.join()}\0`;
  return stack
    .children()
    .find((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').includes(variable));
};

/** @throws Error while somebody has the port. */
const bind = async (address: string) => {
  const socket = createSocket('udp4').bind(PORTS.dns, address);
  await once(socket, 'listening');
  return socket;
};

beforeAll(async () => {
  upstream = await startUpstream();
  stack = new LocalStack({
    DNS_HOST: `${FIRST.join()};${SECOND.join()}`,
    UPSTREAMS: `127.0.0.1:${upstream.address().port}`,
    MISSING_RESOLVER_S: '10',
  });
  api = await stack.start();
  const made = [
    await api.call('POST', '/profiles/', { profile: { id: 1 } }),
    await api.call('POST', '/net/', { ip: '127.0.0.1', profile_id: 1 }),
    await api.call('POST', '/net6/', { ip: '::1', profile_id: 1 }),
  ];
  for (const one of made) expect(one).toMatchObject({ status: 201, applied: 2, total: 2 });
});
afterAll(async () => {
  await stack.remove();
  upstream.close();
});

it('two resolvers on one machine answer on one port, each on its own addresses', async () => {
  const rule = { type: 'deny', domain: 'blocked.example' };
  expect(await api.call('POST', '/profile/1/bw_list', rule)).toMatchObject({
    applied: 2,
    total: 2,
  });
  for (const answer of await answers([...FIRST, ...SECOND], 'www.blocked.example')) {
    expect(answer).toEqual(BLOCKED);
  }
  await expect(ask(PORTS.dns, 'www.blocked.example', { timeoutMs: 1_000 })).rejects.toThrow();
});

it('the second answers on its address while the first is gone, which comes back on its own', async () => {
  process.kill(resolverOn(FIRST)!, 'SIGKILL');
  const first = { address: FIRST[0], timeoutMs: 1_000 };
  await expect(ask(PORTS.dns, 'a.example', first)).rejects.toThrow();
  expect(await ask(PORTS.dns, 'a.example', { address: SECOND[0] })).toEqual([UPSTREAM_ADDRESS]);
  await vi.waitFor(
    async () => {
      for (const address of FIRST) {
        const soon = { address, timeoutMs: 1_000 };
        expect(await ask(PORTS.dns, 'www.blocked.example', soon)).toEqual(BLOCKED);
      }
    },
    { timeout: 120_000, interval: 50 },
  );
});

it('one whose port was taken for so long that it ended five times is there after its release', async () => {
  const [address = ''] = SECOND;
  // It may be back before its port is taken.
  const taker = await vi.waitFor(
    () => {
      const resolver = resolverOn(SECOND);
      if (resolver !== undefined) process.kill(resolver, 'SIGKILL');
      return bind(address);
    },
    { timeout: 60_000, interval: 1 },
  );
  await stack.terminal.waitFor('it has ended 5 times within a minute', 120_000);
  taker.close();
  await vi.waitFor(
    async () => {
      const soon = { address, timeoutMs: 1_000 };
      expect(await ask(PORTS.dns, 'www.blocked.example', soon)).toEqual(BLOCKED);
    },
    { timeout: 120_000, interval: 50 },
  );
});
