import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { respond } from '../testing/respond.js';
import { forwarder, upstream } from '../testing/forwarding.js';
import { type Answerer, type AskedQuery, UpstreamServer } from '../testing/upstream-server.js';
import { RandomIds } from '../upstream/random-ids.js';
import { UpstreamTcp } from '../upstream/upstream-tcp.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function link(answer: Answerer, idleMs?: number) {
  const server = await UpstreamServer.start(answer);
  cleanups.push(() => server.stop());
  const subject = new UpstreamTcp(server.endpoint, new RandomIds(), idleMs);
  cleanups.push(() => {
    subject.close();
  });
  const ask = (name: string, timeoutMs = 60_000) =>
    new Promise<string | null>((resolve) => {
      subject.ask(encodeQuery(name, 1, { id: 0 }), timeoutMs, (message) => {
        resolve(message === null ? null : decodeMessage(message).questions[0].qname);
      });
    });
  return { server, subject, ask };
}

describe('UpstreamTcp', () => {
  it('sends many queries over one connection and accepts the answers in any order (RFC 7766)', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { server, ask } = await link(async (query) => {
      if (query.message.questions[0].qname.startsWith('slow')) await gate.promise;
      return respond(query);
    });
    const done: (string | null)[] = [];
    const names = ['slow.example.com', 'a.example.com', 'b.example.com'];
    const all = names.map((name) => ask(name).then((answer) => done.push(answer)));
    await Promise.all(all.slice(1));
    gate.resolve(undefined);
    await Promise.all(all);
    expect(done).toEqual(['a.example.com', 'b.example.com', 'slow.example.com']);
    expect(await ask('c.example.com')).toBe('c.example.com');
    expect(server.connectionCount).toBe(1);
    expect(new Set(server.asked.map(({ message }) => message.id)).size).toBe(4);
  });

  it('repeats a query on a new connection when the peer has closed the old one', async () => {
    const { server, ask } = await link((query) => respond(query));
    await ask('a.example.com');
    let closed = false;
    server.answer = (query) => {
      if (closed) return respond(query);
      closed = true;
      for (const connection of server.connections) connection.destroy();
      return null;
    };
    expect(await ask('b.example.com')).toBe('b.example.com');
    expect(server.connectionCount).toBe(2);
  });

  it('gets all answers from a peer that answers a few queries of each connection', async () => {
    const { server, ask } = await link((query) => respond(query));
    server.queriesPerConnection = 3;
    const names = Array.from({ length: 40 }, (_, i) => `n${i}.example.com`);
    expect(await Promise.all(names.map((name) => ask(name)))).toEqual(names);
    expect(server.connectionCount).toBe(14);
  });

  it('fails when a peer answers another query than was sent, and closes', async () => {
    const { server, ask } = await link((query) => respond(query).with(0, 0xff).with(1, 0xff));
    server.queriesPerConnection = 1;
    expect(await ask('a.example.com')).toBeNull();
    expect(server.connectionCount).toBe(1);
  });

  it('fails when a new connection closes without an answer, and when the port is closed', async () => {
    const { server, subject, ask } = await link(() => {
      for (const connection of server.connections) connection.destroy();
      return null;
    });
    expect(await ask('a.example.com')).toBeNull();
    expect(subject.connections).toBe(1);
    await server.stop();
    cleanups.shift();
    expect(await ask('a.example.com')).toBeNull();
  });

  it('fails after the timeout, and can be used again', async () => {
    const { server, ask } = await link(() => null);
    expect(await ask('a.example.com', 50)).toBeNull();
    server.answer = (query) => respond(query);
    expect(await ask('b.example.com')).toBe('b.example.com');
    expect(server.connectionCount).toBe(2);
  });

  it('takes an answer that came while the process stood still', async () => {
    const { server, ask } = await link((query) => respond(query));
    await ask('a.example.com');
    const timeoutMs = 2_000;
    server.answer = (query) => {
      setImmediate(() => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeoutMs + 100);
      });
      return respond(query);
    };
    expect(await ask('b.example.com', timeoutMs)).toBe('b.example.com');
  });

  it('fails a query without an answer alone, as long as the connection brings other answers', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { server, ask } = await link(async (query) => {
      const { qname } = query.message.questions[0];
      if (qname.startsWith('mute')) return null;
      if (qname.startsWith('held')) await gate.promise;
      return respond(query);
    });
    const [mute, held] = [ask('mute.example.com', 5_000), ask('held.example.com')];
    expect(await ask('a.example.com')).toBe('a.example.com');
    expect(await mute).toBeNull();
    gate.resolve(undefined);
    expect(await held).toBe('held.example.com');
    expect(server.connectionCount).toBe(1);
  });

  it('closes the connection when it is idle', async () => {
    const { server, ask } = await link((query) => respond(query), 50);
    await ask('a.example.com');
    expect(server.connections.size).toBe(1);
    await expect.poll(() => server.connections.size).toBe(0);
    expect(await ask('b.example.com')).toBe('b.example.com');
  });

  it('ignores answers without an open query', async () => {
    const { ask } = await link((query) => [
      respond(query).with(0, 0xff).with(1, 0xff),
      respond(query),
    ]);
    expect(await ask('a.example.com')).toBe('a.example.com');
  });
});

it('a zone that is silent over TCP does not keep other names from being asked over TCP', async () => {
  const MUTE = 400;
  const isMute = ({ message }: AskedQuery) => message.questions[0].qname.includes('mute');
  const server = await upstream((query) => {
    if (query.transport === 'udp') return respond(query, { flags: 0x8380 });
    return isMute(query) ? null : respond(query);
  });
  const { ask } = forwarder([server.endpoint], {
    attemptTimeoutMs: 60_000,
    queryTimeoutMs: 60_000,
  });
  const overTcp = () => server.asked.filter((one) => one.transport === 'tcp' && isMute(one));
  for (let i = 0; i < MUTE; i++) {
    void ask(`n${i}.mute.example`);
    // Few at a time: the receive buffer of the upstream is small.
    if (i % 50 === 49) await expect.poll(() => overTcp().length, { interval: 5 }).toBe(i + 1);
  }
  expect(await ask('www.example.com')).toMatchObject({ rcode: 0 });
});
