import { proxyHeader } from '@weir/clients/testing';
import { concat, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { udpClient } from '../testing/client.js';
import { holdLanes, serveByLanes } from '../testing/lane-service.js';

const QUERIES = 200;
/** More than four batches beside the one that a lane has taken already: they have piled up. Some may be lost. */
const BACKLOG = 400;
/** They are no work for a lane. */
const FEW = 10;
const QUERY = encodeQuery('www.blocked.example', 1);
const BALANCED = concat(proxyHeader({ source: '7f000001', port: 1024 }), QUERY);

/** One socket, as a balancer has for all its clients. @returns sends that packet so often */
async function openBalancer(address: string, port: number) {
  const socket = await udpClient(address);
  const sendOne = (packet: Uint8Array): Promise<unknown> =>
    new Promise((resolve) => {
      socket.send(packet, port, address, resolve);
    });
  return (packet: Uint8Array, count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => sendOne(packet)));
}

describe('the queries of one socket', () => {
  it('are spread over all lanes that are awake, on each address', async () => {
    const { server, lanes } = await serveByLanes(
      {
        RESOLVER_THREADS: 2,
        DNS_HOST: ['127.0.0.1', '127.0.0.2', '::1'],
        DNS_PROXY_PROTOCOL_FROM: parseCidrs(['127.0.0.1', '127.0.0.2', '::1']),
      },
      { parksLanes: false },
    );
    const counts = () => lanes.map(({ laneCounts }) => laneCounts.answers);
    for (const address of ['127.0.0.1', '127.0.0.2', '::1']) {
      const before = counts();
      const send = await openBalancer(address, server.port);
      await send(BALANCED, QUERIES);
      const fewest = () => Math.min(...counts().map((count, lane) => count - before[lane]));
      await expect.poll(fewest).toBeGreaterThan(QUERIES / 4);
    }
  });

  it('go to one lane while it has time for all of them, and to more when it has not', async () => {
    const { server, lanes, service, source } = await serveByLanes({ RESOLVER_THREADS: 2 });
    const [first, second] = lanes.map(({ laneCounts }) => laneCounts);
    const send = await openBalancer('127.0.0.1', server.port);
    await expect.poll(() => service.lanes.awakeCount).toBe(1);
    for (let sent = FEW; sent <= QUERIES; sent += FEW) {
      await send(QUERY, FEW);
      await expect.poll(() => first.answers).toBe(sent);
    }
    expect(second.answers).toBe(0);
    // They pile up while no lane can go on, as during a change. That wakes the second, for the next ones.
    const pileUp = async () => {
      const release = holdLanes(source);
      await send(QUERY, BACKLOG);
      release();
      return second.answers;
    };
    await expect.poll(pileUp).toBeGreaterThan(0);
    await expect.poll(() => service.lanes.awakeCount).toBe(1);
  });
});
