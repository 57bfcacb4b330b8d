import { proxyHeader, type TestProxyHeader } from '@weir/clients/testing';
import { concat, decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { askTcp } from '../testing/client.js';
import { droppedFor, startTcp } from '../testing/listeners.js';
import { frame } from '../testing/upstream-server.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const loadBalancers = parseCidrs(['127.0.0.1', '::1']);
const query = (id: number) => encodeQuery(`n${id}.example.com`, 1, { id });
const idOf = (bytes: Uint8Array | null) => bytes && decodeMessage(bytes).id;

const CLIENTS: [string, TestProxyHeader, object][] = [
  ['IPv4', { source: 'c0000201', port: 1024 }, { family: 4, word: 0xc000_0201, port: 1024 }],
  [
    'IPv6',
    { source: '20010db8000000000000000000000007', port: 65_535 },
    { family: 6, word: 7, port: 65_535 },
  ],
];

describe('StreamListener behind a load balancer', () => {
  async function start(options: Parameters<typeof startTcp>[0] = {}) {
    const started = await startTcp({ loadBalancers, ...options });
    cleanups.push(() => {
      started.listener.stop();
    });
    return started;
  }

  it.each(CLIENTS)('takes an %s client from the header in any segmentation', async (_, header, client) => {
    const { server, handler } = await start();
    const stream = concat(proxyHeader(header), frame(query(1)), frame(query(2)));
    const headerBytes = stream.length - 2 * frame(query(1)).length;
    for (const cuts of [[stream.length], [headerBytes, stream.length], [5, 20, headerBytes + 1, stream.length]]) {
      const pieces = cuts.map((end, i) => stream.subarray(cuts[i - 1] ?? 0, end));
      expect((await askTcp(server, pieces, 2)).map(idOf)).toEqual([1, 2]);
    }
    expect(handler.clients).toHaveLength(6);
    for (const one of handler.clients) expect(one).toMatchObject(client);
  }); // oxfmt-ignore

  it('answers a client that sends everything at once and half-closes', async () => {
    const { server } = await start();
    const stream = concat(proxyHeader({ source: 'c0000201' }), frame(query(1)));
    expect((await askTcp(server, [stream], 2, { halfClose: true })).map(idOf)).toEqual([1]);
  });

  it.each([
    ['no header', frame(query(1))],
    ['a bad one', proxyHeader({ source: 'c0000201', command: 0x2f })],
  ])('closes and counts a connection with %s', async (_, bytes) => {
    const { server, counters, handler } = await start();
    expect(await askTcp(server, [bytes], 1).catch(() => [])).toEqual([]);
    expect(droppedFor(counters, 'unproxied')).toBe(1);
    expect(handler.clients).toEqual([]);
  });

  it('closes a connection without a header after a timeout', async () => {
    const { server } = await start({ idleMs: 100 });
    expect(await askTcp(server, [Uint8Array.of(13)], 1)).toEqual([]);
    expect(await askTcp(server, [Uint8Array.of(13)], 1, { halfClose: true })).toEqual([]);
  });

  it('limits the connections of each client, not of the load balancer', async () => {
    const { server, counters, handler } = await start({ maxPerClient: 1 });
    const open = (source: string) => {
      const socket = connect({ host: server.address, port: server.port });
      cleanups.push(() => socket.destroy());
      socket.on('error', () => socket.destroy());
      socket.write(concat(proxyHeader({ source }), frame(query(1))));
      return new Promise((resolve) => socket.once('close', resolve));
    };
    void open('c0000201');
    void open('c0000202');
    await expect.poll(() => handler.clients.length).toBe(2);
    await open('c0000201');
    expect(droppedFor(counters, 'crowded')).toBe(1);
  });
});
