import { proxyHeader } from '@weir/clients/testing';
import { concat, decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { policyOf, profile, put } from '@weir/policy-feed/testing';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { askTcp, type Server } from '../testing/client.js';
import { startService, useCertificate } from '../testing/service.js';
import { frame } from '../testing/upstream-server.js';

const certificate = useCertificate();
const QUERY = encodeQuery('localhost', 1);
const LIMITS = { DNS_TCP_CONNECTIONS: 64, CLIENT_TCP_CONNECTIONS: 8 };

async function serve(configuration: Partial<DnsConfiguration> = {}) {
  const subscriber = put('ipv4Network', { address: 0x7f00_0107, prefixLength: 32, profileId: 1 });
  const started = await startService(
    {
      ...LIMITS,
      DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/24', '2001:db8:1::/48']),
      ...configuration,
    },
    { source: { policy: policyOf(profile(1), subscriber) } },
  );
  const crowded = () =>
    started.service.counts.queries.droppedCounts().find(([{ why }]) => why === 'crowded')?.[1];
  return { ...started, crowded };
}

/** Opens a connection and waits until the server has taken or closed it. */
async function open(server: Server, localAddress = '127.0.0.1', first?: Uint8Array) {
  const socket = connect({ host: server.address, port: server.port, localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => socket.destroy()).resume();
  await new Promise((resolve) => socket.once('connect', resolve));
  if (first !== undefined) socket.write(first);
  return socket;
}

/** The RCODE of the answer to that address; null: none. */
async function ask(server: Server, localAddress: string): Promise<number | null> {
  const host = { host: server.address, port: server.port, localAddress, noDelay: true };
  const [answer] = await askTcp(server, [frame(QUERY)], 1, { open: () => connect(host) }).catch(
    () => [],
  );
  return answer === undefined ? null : decodeMessage(answer).rcode;
}

/** The same, named by the load balancer. @param source in hexadecimal */
async function askProxied(server: Server, source: string): Promise<number | null> {
  const query = concat(proxyHeader({ source }), frame(QUERY));
  const [answer] = await askTcp(server, [query], 1).catch(() => []);
  return answer === undefined ? null : decodeMessage(answer).rcode;
}

const countOpen = (sockets: readonly Socket[]) =>
  sockets.filter((socket) => !socket.destroyed).length;

describe('clients that are not served', () => {
  it.each(['port', 'tlsPort', 'httpsPort'] as const)(
    'share a small part of the connections (%s)',
    async (name) => {
      const bound = await serve({ ...certificate, DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0 });
      const target = { address: bound.address, port: bound[name] ?? 0 };
      const sockets: Socket[] = [];
      for (let n = 0; n < 128; n++)
        sockets.push(await open(target, `127.${9 + (n >> 3)}.0.${1 + (n >> 3)}`));
      await expect.poll(() => countOpen(sockets)).toBe(8);
      expect(await ask(bound, '127.0.0.7')).toBe(0);
      expect(await ask(bound, '127.0.1.7')).toBe(0);
      expect(bound.crowded()).toBe(120);
    },
  );

  it('are counted by their /48, which loses one when another is to have one', async () => {
    const server = await serve({ DNS_PROXY_PROTOCOL_FROM: parseCidrs(['127.0.0.1']) });
    const sockets: Socket[] = [];
    // The /64s of a /59.
    for (let n = 0; n < 64; n++) {
      const source = `20010db80009${(n >> 1).toString(16).padStart(4, '0')}0000000000000001`;
      sockets.push(await open(server, '127.0.0.1', proxyHeader({ source })));
    }
    await expect.poll(() => countOpen(sockets)).toBe(8);
    expect(await askProxied(server, '20010db8000100000000000000000001')).toBe(0);
    // Another stranger is told that it is refused.
    expect(await askProxied(server, '20010db8000a00000000000000000001')).toBe(5);
  });

  it('are counted by their /24', async () => {
    const server = await serve();
    const sockets: Socket[] = [];
    for (let n = 0; n < 16; n++) sockets.push(await open(server, `127.9.0.${n + 1}`));
    await expect.poll(() => countOpen(sockets)).toBe(8);
    expect(await ask(server, '127.9.1.1')).toBe(5);
  });
});

describe('when all connections are in use', () => {
  it('the subscriber with the most loses one to another', async () => {
    const server = await serve();
    const sockets: Socket[] = [];
    for (let n = 0; n < 64; n++) sockets.push(await open(server, `127.0.0.${10 + (n >> 3)}`));
    expect(await ask(server, '127.0.0.7')).toBe(0);
    await expect.poll(() => countOpen(sockets)).toBe(63);
    expect(server.crowded()).toBe(1);
  });

  it('a load balancer that names no client has only a few', async () => {
    const server = await serve({ DNS_PROXY_PROTOCOL_FROM: parseCidrs(['127.0.0.1']) });
    const sockets: Socket[] = [];
    for (let n = 0; n < 64; n++) sockets.push(await open(server));
    await expect.poll(() => countOpen(sockets)).toBe(8);
    expect(await ask(server, '127.0.0.7')).toBe(0);
  });
});
