import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { countsOf, forwarder, upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import type { Answerer, AskedQuery } from '../testing/upstream-server.js';

const FORGED = Buffer.from([192, 0, 2, 66]);
const TRUE = [a('192.0.2.1')];

/** Answers with ids that were never used, as somebody does who guesses. */
function guesses(query: AskedQuery, count: number): Uint8Array[] {
  const packet = respond(query, { answers: [a('192.0.2.66')] });
  return Array.from({ length: count }, (_, i) => {
    const id = (query.message.id + 1 + i) % 65_536;
    return packet.with(0, id >>> 8).with(1, id & 0xff);
  });
}

const overUdpGuessed =
  (count: number): Answerer =>
  (query) =>
    query.transport === 'tcp' ? respond(query, { answers: TRUE }) : guesses(query, count);

const TCP_CAPACITY = 64;

describe('answers with wrong ids', () => {
  it('that are many at one port make its questions go over TCP', async () => {
    const server = await upstream(overUdpGuessed(8));
    const { ask, subject } = forwarder([server.endpoint], { attemptTimeoutMs: 60_000 });
    expect(await ask()).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
    expect(server.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ spoofs: 1, strays: 8, failures: 0 });
  });

  it('are empty packets too, whatever was received before', async () => {
    const server = await upstream((query) => {
      const answer = respond(query, { answers: TRUE });
      if (query.transport === 'tcp') return answer;
      return server.asked.length === 1
        ? Array.from({ length: 12 }, () => answer)
        : Array.from({ length: 12 }, () => new Uint8Array(0));
    });
    const options = { attemptTimeoutMs: 60_000, portsPerUpstream: 1 };
    const { ask, subject } = forwarder([server.endpoint], options);
    await ask('n1.example.com');
    expect(await ask('n2.example.com')).toMatchObject({ answers: [{ type: 1 }] });
    expect(countsOf(subject.upstreams[0])).toMatchObject({ spoofs: 1, overTcp: 1, failures: 0 });
  });

  it('close the port: even the right id is too late', async () => {
    let release = (): void => undefined;
    const isForged = new Promise<void>((resolve) => (release = resolve));
    const server = await upstream(async (query) => {
      if (query.transport === 'udp')
        return [...guesses(query, 8), respond(query, { answers: [a('192.0.2.66')] })];
      await isForged;
      return respond(query, { answers: TRUE });
    });
    const { ask } = forwarder([server.endpoint], { attemptTimeoutMs: 60_000 });
    const outcome = ask();
    await expect.poll(() => server.asked.length).toBe(2);
    release();
    expect(await outcome).not.toMatchObject({ answers: [{ rdata: FORGED }] });
    // And another port takes its place.
    server.answer = (query) => respond(query, { answers: TRUE });
    for (let i = 0; i < 20; i++) {
      expect(await ask(`n${i}.example.com`)).toMatchObject({ answers: [{ type: 1 }] });
    }
    const [closed, ...others] = server.asked.filter(({ transport }) => transport === 'udp');
    expect(others.map(({ from }) => from!.port)).not.toContain(closed.from!.port);
  });

  it('that are few change nothing', async () => {
    const server = await upstream((query) => [
      ...guesses(query, 7),
      respond(query, { answers: TRUE }),
    ]);
    const { ask, subject } = forwarder([server.endpoint]);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(server.asked).toHaveLength(1);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ spoofs: 0, strays: 7 });
  });

  it('are not the late and repeated answers of a slow upstream', async () => {
    const server = await upstream((query) => respond(query, { answers: TRUE }));
    const { ask, subject } = forwarder([server.endpoint], { portsPerUpstream: 1 });
    await ask();
    for (let i = 0; i < 20; i++) server.sendTo(respond(server.asked[0]), server.asked[0].from!);
    const [asked] = subject.upstreams;
    await expect.poll(() => countsOf(asked).late).toBe(20);
    expect(await ask('other.example.com')).toMatchObject({ answers: [{ type: 1 }] });
    expect(countsOf(asked)).toMatchObject({ strays: 0, spoofs: 0, overTcp: 0 });
  });

  it('do not make the upstream count as failing when TCP has no room', async () => {
    const server = await upstream(() => null);
    const { ask, subject } = forwarder([server.endpoint], {
      portsPerUpstream: 2,
      tcpCapacity: TCP_CAPACITY,
      attemptTimeoutMs: 60_000,
      queryTimeoutMs: 60_000,
    });
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 2.5 * TCP_CAPACITY; i++) {
      asked.push(ask(`n${i}.example.com`));
      await expect.poll(() => server.asked.length, { interval: 1 }).toBe(i + 1);
    }
    server.answer = (query) => respond(query, { answers: TRUE });
    const { from } = server.asked[0];
    const [there, elsewhere] = [true, false].map((isThere) =>
      server.asked.filter((query) => (query.from!.port === from!.port) === isThere),
    );
    const used = new Set(there.map(({ message }) => message.id));
    const free = Array.from({ length: 65_536 }, (_, id) => id).filter((id) => !used.has(id));
    for (const id of free.slice(0, 8)) {
      const packet = respond(server.asked[0])
        .with(0, id >>> 8)
        .with(1, id & 0xff);
      server.sendTo(packet, from!);
    }
    for (const query of elsewhere) server.sendTo(respond(query), query.from!);
    for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject({ rcode: 0 });
    const overTcp = Math.min(there.length, TCP_CAPACITY);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ spoofs: 1, overTcp, failures: 0 });
  });
});
