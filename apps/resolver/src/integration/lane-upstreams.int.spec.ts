import { encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { a } from '../query/testing/records.js';
import { Authority } from '../testing/authority.js';
import { askUdp } from '../testing/client.js';
import { PERMITTED, serveByLanes, udpClients } from '../testing/lane-service.js';
import { respond } from '../testing/respond.js';
import { type AskedQuery, UpstreamServer } from '../testing/upstream-server.js';

const ANSWER = { answers: [a('192.0.2.1')] };
/** An upstream port is replaced after 4096 queries, and there are two. */
const MANY = 20_000;
const AT_ONCE = 100;
const WAITING = 4_000;

const transports = (asked: readonly AskedQuery[]) => asked.map(({ transport }) => transport);

it('a lane asks again over TCP when an answer is truncated', async () => {
  const { ask, upstream } = await serveByLanes();
  upstream.answer = (query) =>
    respond(query, query.transport === 'udp' ? { flags: 0x8380 } : ANSWER);
  for (let n = 0; n < 3; n++) expect(await ask(`n${n}.example.com`)).toBe(PERMITTED);
  expect(transports(upstream.asked)).toEqual(['udp', 'tcp', 'udp', 'tcp', 'udp', 'tcp']);
  expect(upstream.connectionCount).toBe(1);
});

it('a lane asks an upstream over TLS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-lane-tls-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const authority = new Authority(folder);
  const name = 'dns.example';
  const upstream = await UpstreamServer.start((query) => respond(query, ANSWER), '127.0.0.1', {
    identity: authority.issue(name),
  });
  onTestFinished(() => upstream.stop());
  const { ask } = await serveByLanes(
    { UPSTREAM_TLS_CA: authority.caFile },
    { upstreams: [{ ...upstream.endpoint, tls: { name } }] },
  );
  const names = Array.from({ length: 20 }, (_, n) => `n${n}.example.com`);
  expect(new Set(await Promise.all(names.map(ask)))).toEqual(new Set([PERMITTED]));
  expect(new Set(transports(upstream.asked))).toEqual(new Set(['tls']));
  // One of each thread.
  expect(upstream.connectionCount).toBe(2);
});

it('a lane loses no answer while it changes the ports from which it asks', async () => {
  const { server, upstream, service } = await serveByLanes({ UPSTREAM_PORTS: 2 });
  const [client] = await udpClients(1);
  let answers = 0;
  client.on('message', (answer) => {
    if (hexOf(answer.subarray(-4)) === PERMITTED) answers++;
  });
  for (let asked = 0; asked < MANY;) {
    for (let n = 0; n < AT_ONCE; n++, asked++) {
      client.send(encodeQuery(`n${asked}.example.com`, 1), server.port, server.address);
    }
    await expect.poll(() => answers, { interval: 1 }).toBe(asked);
  }
  expect(new Set(upstream.asked.map(({ from }) => from?.port)).size).toBeGreaterThan(4);
  const [{ queries, answers: got, timeouts }] = service.counts.forwarding.upstreams;
  expect([queries, got, timeouts]).toEqual([MANY, MANY, 0]);
});

it('a lane closes a port to which somebody sends forged answers, and asks over TCP', async () => {
  const { server, upstream, service } = await serveByLanes({ UPSTREAM_PORTS: 1 });
  upstream.answer = (query) => {
    if (query.transport === 'tcp') return respond(query, ANSWER);
    const { id } = query.message;
    return Array.from({ length: 10 }, (_, n) => respond(query, { ...ANSWER, id: id ^ (1 + n) }));
  };
  const answer = await askUdp(server, encodeQuery('www.example.com', 1), 10_000);
  expect(hexOf(answer!.subarray(-4))).toBe(PERMITTED);
  expect(service.counts.forwarding.upstreams[0].spoofs).toBe(1);
  // On the next port.
  upstream.answer = (query) => respond(query, ANSWER);
  const next = await askUdp(server, encodeQuery('next.example.com', 1), 10_000);
  expect(hexOf(next!.subarray(-4))).toBe(PERMITTED);
});

it('a lane answers all clients that wait for one name as soon as its answer is there', async () => {
  const { server, upstream, service } = await serveByLanes({ CLIENT_WAITING_QUERIES: WAITING });
  upstream.answer = () => null;
  const sockets = await udpClients(40);
  let answers = 0;
  for (const socket of sockets) socket.on('message', () => answers++);
  for (let asked = 0; asked < WAITING;) {
    for (const socket of sockets) {
      socket.send(encodeQuery('www.example.com', 1), server.port, server.address);
      asked++;
    }
    await expect.poll(() => service.counts.forwarding.waiting, { interval: 1 }).toBe(asked);
  }
  const [query] = upstream.asked;
  const sentMs = performance.now();
  upstream.sendTo(respond(query, ANSWER), query.from!);
  await expect.poll(() => answers, { interval: 1, timeout: 10_000 }).toBe(WAITING);
  // They are answered in pieces, 125 of them. A turn of the lane without anything to do takes 50 ms.
  expect(performance.now() - sentMs).toBeLessThan(2_500);
});
