import { proxyHeader } from '@weir/clients/testing';
import { concat, encodeQuery } from '@weir/dns-wire/testing';
import { CidrSet } from '@weir/ops';
import { createSocket, type Socket } from 'node:dgram';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveByLanes } from '../testing/lane-service.js';

const QUERIES = 200;
/** More than four batches: they have piled up. */
const BACKLOG = 300;
const RECEIVE_BUFFER_BYTES = 200_000;
const QUERY = encodeQuery('www.blocked.example', 1);
const BALANCED = concat(proxyHeader({ source: '7f000001', port: 1024 }), QUERY);

/** One socket, as a balancer has for all its clients. */
async function openBalancer(address: string, port: number) {
  const socket: Socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => {
    socket.bind(0, address, resolve);
  });
  socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
  let answered = 0;
  socket.on('message', () => answered++);
  const sendOne = (packet: Uint8Array): Promise<unknown> =>
    new Promise((resolve) => {
      socket.send(packet, port, address, resolve);
    });
  const send = (packet: Uint8Array, count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => sendOne(packet)));
  return { send, answered: () => answered };
}

describe('the queries of one socket', () => {
  it('are spread over all lanes that are awake, on each address', async () => {
    const { server, lanes } = await serveByLanes(
      {
        RESOLVER_THREADS: 2,
        DNS_HOST: ['127.0.0.1', '127.0.0.2', '::1'],
        DNS_PROXY_PROTOCOL_FROM: CidrSet.parse(['127.0.0.1', '127.0.0.2', '::1']),
      },
      { parksLanes: false },
    );
    const counts = () => lanes.map(({ laneCounts }) => laneCounts.answers);
    for (const address of ['127.0.0.1', '127.0.0.2', '::1']) {
      const before = counts();
      const { send, answered } = await openBalancer(address, server.port);
      await send(BALANCED, QUERIES);
      await expect.poll(answered).toBe(QUERIES);
      const fewest = Math.min(...counts().map((count, lane) => count - before[lane]));
      expect(fewest).toBeGreaterThan(QUERIES / 4);
    }
  });

  it('go to one lane while it has time for all of them, and to more when it has not', async () => {
    const { server, lanes, service, source } = await serveByLanes({ RESOLVER_THREADS: 2 });
    const [first, second] = lanes.map(({ laneCounts }) => laneCounts);
    const { send, answered } = await openBalancer('127.0.0.1', server.port);
    await expect.poll(() => service.lanes.awakeCount).toBe(1);
    await send(QUERY, QUERIES);
    await expect.poll(answered).toBe(QUERIES);
    expect([first.answers, second.answers]).toEqual([QUERIES, 0]);
    // They pile up while no lane can go on, as during a change. The second soon parks again, so it may get none.
    const lock = new Int32Array(source.share.connect(3, () => undefined).lock);
    let sent = QUERIES;
    const pileUp = async () => {
      Atomics.store(lock, 0, 1);
      await send(QUERY, BACKLOG);
      Atomics.store(lock, 0, 0);
      Atomics.notify(lock, 0);
      await send(QUERY, QUERIES);
      sent += BACKLOG + QUERIES;
      await expect.poll(answered).toBe(sent);
      return second.answers;
    };
    await expect.poll(pileUp).toBeGreaterThan(0);
    await expect.poll(() => service.lanes.awakeCount).toBe(1);
  });
});
