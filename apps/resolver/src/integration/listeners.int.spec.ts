import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { askOneTcp, askTcp } from '../testing/client.js';
import { EchoHandler } from '../testing/echo-handler.js';
import { droppedFor, startTcp } from '../testing/listeners.js';
import { frame } from '../testing/upstream-server.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const query = (id: number) => encodeQuery(`n${id}.example.com`, 1, { id });
const idOf = (bytes: Uint8Array) => decodeMessage(bytes).id;

async function tcp(...options: Parameters<typeof startTcp>) {
  const started = await startTcp(...options);
  cleanups.push(() => {
    started.listener.stop();
  });
  return started;
}

describe('TcpListener', () => {
  it('answers and knows the address of the client', async () => {
    const { handler, server } = await tcp();
    expect(idOf((await askOneTcp(server, query(7)))!)).toBe(7);
    expect(handler.clients).toMatchObject([{ family: 4, word: 0x7f00_0001 }]);
  });

  it('answers pipelined queries in any segmentation (RFC 7766 §6.2.1.1)', async () => {
    const { server } = await tcp();
    const stream = Buffer.concat([1, 2, 3].map((id) => frame(query(id))));
    const cuts = [1, 2, 20, 37, 38, 39, 90, stream.length];
    const pieces = cuts.map((end, i) => stream.subarray(cuts[i - 1] ?? 0, end));
    expect((await askTcp(server, pieces, 3)).map(idOf)).toEqual([1, 2, 3]);
  });

  it('answers in any order, also after the client has half-closed', async () => {
    const { handler, server } = await tcp();
    handler.isHolding = true;
    const asked = askTcp(server, [frame(query(1)), frame(query(2))], 3, { halfClose: true });
    await expect.poll(() => handler.held.length).toBe(2);
    await sleep(30);
    handler.release();
    expect((await asked).map(idOf)).toEqual([2, 1]);
  });

  it('has at most 64 open queries, and answers all in the end', async () => {
    const { handler, server } = await tcp();
    handler.isHolding = true;
    const ids = Array.from({ length: 200 }, (_, id) => id);
    const asked = askTcp(server, [Buffer.concat(ids.map((id) => frame(query(id))))], 200);
    await expect.poll(() => handler.held.length).toBe(64);
    await sleep(50);
    expect(handler.held).toHaveLength(64);
    handler.isHolding = false;
    handler.release();
    expect((await asked).map(idOf).sort((x, y) => x - y)).toEqual(ids);
  });

  it('handles hundreds of queries of one connection in pieces, so that the event loop stays free', async () => {
    const { handler, server } = await tcp();
    let inTurn = 0;
    let mostInTurn = 0;
    handler.onQuery = () => {
      if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
      mostInTurn = Math.max(mostInTurn, inTurn);
    };
    const ids = Array.from({ length: 1_500 }, (_, id) => id);
    const answers = await askTcp(server, [Buffer.concat(ids.map((id) => frame(query(id))))], 1_500);
    expect(answers.map(idOf)).toEqual(ids);
    expect(mostInTurn).toBeLessThan(100);
  });

  it('handles a query of another connection before hundreds that came earlier', async () => {
    const { handler, server } = await tcp();
    const other = connect({ host: server.address, port: server.port });
    await new Promise((resolve) => other.once('connect', resolve));
    cleanups.push(() => other.destroy());
    handler.onQuery = () => {
      if (handler.clients.length === 1) other.write(frame(query(9)));
    };
    const stream = Buffer.concat(Array.from({ length: 1_500 }, (_, id) => frame(query(id))));
    await askTcp(server, [stream], 1_500);
    const ports = handler.clients.map(({ port }) => port);
    expect(ports.indexOf(other.localPort!)).toBeGreaterThan(0);
    expect(ports.indexOf(other.localPort!)).toBeLessThan(1_000);
  });

  it('answers all queries of a client that has half-closed after hundreds of them', async () => {
    const { server } = await tcp();
    const stream = Buffer.concat(Array.from({ length: 1_500 }, (_, id) => frame(query(id))));
    expect(await askTcp(server, [stream], 1_501, { halfClose: true })).toHaveLength(1_500);
  });

  it.each([
    ['a message without bytes', Uint8Array.of(0, 0)],
    ['a message of 4097 bytes', Uint8Array.of(0x10, 0x01, 0)],
    ['a reply', frame(encodeQuery('example.com', 1, { flags: 0x8100 }))],
  ])('closes the connection at %s', async (_, bytes) => {
    const { server } = await tcp();
    expect(await askTcp(server, [bytes], 1)).toEqual([]);
  });

  it('closes the connection at a reply, behind the answers to the queries before it', async () => {
    const { server } = await tcp();
    const reply = encodeQuery('example.com', 1, { flags: 0x8100 });
    const stream = Buffer.concat([query(1), query(2), reply].map((bytes) => frame(bytes)));
    expect((await askTcp(server, [stream], 3)).map(idOf)).toEqual([1, 2]);
  });

  it('closes an idle connection, even if single bytes arrive', async () => {
    const { server } = await tcp({ idleMs: 100 });
    expect(await askTcp(server, [], 1)).toEqual([]);
    const socket = connect({ host: server.address, port: server.port });
    cleanups.push(() => socket.destroy());
    // What is written after the end may get a reset.
    socket.on('error', () => undefined);
    const writing = setInterval(() => socket.write(Uint8Array.of(2)), 5);
    cleanups.push(() => {
      clearInterval(writing);
    });
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('closes idle connections earlier when half of all are in use', async () => {
    let nowMs = 0;
    const { server } = await tcp({ maxConnections: 2, idleMs: 400, nowMs: () => nowMs });
    const open = () => {
      const socket = connect({ host: server.address, port: server.port });
      cleanups.push(() => socket.destroy());
      return socket;
    };
    const first = open();
    await new Promise((resolve) => first.once('connect', resolve));
    nowMs = 150;
    // Looked at several times.
    await sleep(350);
    expect(first.readyState).toBe('open');
    const closed = new Promise((resolve) => first.once('close', resolve));
    const second = open();
    await closed;
    expect(second.readyState).toBe('open');
  });

  it('gives up an idle connection at the next look when its client leaves its side open', async () => {
    let nowMs = 0;
    const { listener, server } = await tcp({
      ...{ maxConnections: 2, idleMs: 400 },
      nowMs: () => nowMs,
    });
    const to = { host: server.address, port: server.port };
    const [idle, other] = [connect({ ...to, allowHalfOpen: true }), connect(to)];
    cleanups.push(() => idle.destroy());
    const ended = new Promise((resolve) => idle.resume().once('end', resolve));
    await expect.poll(() => promisify(listener.getConnections.bind(listener))()).toBe(2);
    nowMs = 150;
    await ended;
    // So half of all are no longer in use.
    other.destroy();
    await expect.poll(() => promisify(listener.getConnections.bind(listener))()).toBe(0);
  });

  it('keeps a connection that waits for an answer when half of all are in use, but not for ever', async () => {
    let nowMs = 0;
    const { listener, server, handler } = await tcp({
      ...{ maxConnections: 2, idleMs: 400 },
      nowMs: () => nowMs,
    });
    handler.isHolding = true;
    const socket = connect({ host: server.address, port: server.port });
    const asked = askTcp(server, [frame(query(1))], 2, { open: () => socket });
    await expect.poll(() => handler.held.length).toBe(1);
    const idle = askTcp(server, [], 1);
    await expect.poll(() => promisify(listener.getConnections.bind(listener))()).toBe(2);
    nowMs = 150;
    expect(await idle).toEqual([]);
    handler.release();
    socket.write(frame(query(2)));
    await expect.poll(() => handler.held.length).toBe(1);
    nowMs = 551;
    expect((await asked).map(idOf)).toEqual([1]);
  });

  it('does not exceed its limit of connections', async () => {
    const { server, counters } = await tcp({ maxConnections: 2 });
    const open = [1, 2].map(() => connect({ host: server.address, port: server.port }));
    cleanups.push(() => open.map((socket) => socket.destroy()));
    for (const socket of open) await new Promise((resolve) => socket.once('connect', resolve));
    expect(await askTcp(server, [], 1)).toEqual([]);
    expect(droppedFor(counters, 'crowded')).toBe(1);
    open[0].destroy();
    await expect.poll(async () => (await askTcp(server, [frame(query(5))], 1)).length).toBe(1);
  });

  it('disconnects a client that does not read its answers', async () => {
    const { server, counters, unread } = await tcp({}, new EchoHandler(60_000));
    const socket = connect({ host: server.address, port: server.port });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => socket.destroy());
    socket.pause();
    const stream = Buffer.concat(Array.from({ length: 60 }, (_, id) => frame(query(id))));
    const writing = setInterval(() => socket.write(stream), 5);
    cleanups.push(() => {
      clearInterval(writing);
    });
    await closed;
    expect(droppedFor(counters, 'unread')).toBe(1);
    expect(unread.total).toBe(0);
  });

  it('closes the connection with the most unread bytes when all together have too many', async () => {
    const maxUnreadBytes = 300_000;
    const { server, handler, counters, unread } = await tcp(
      { maxUnreadBytes },
      new EchoHandler(60_000),
    );
    /** Asks until that many bytes of all connections are unread, or the connection is closed. */
    const leaveUnread = async (socket: Socket, isEnough: () => boolean) => {
      while (!isEnough()) {
        const asked = handler.clients.length + 1;
        socket.write(frame(query(asked)));
        await expect.poll(() => handler.clients.length, { interval: 1 }).toBe(asked);
      }
    };
    const open = () => {
      const socket = connect({ host: server.address, port: server.port });
      cleanups.push(() => socket.destroy());
      socket.pause().on('error', () => socket.destroy());
      return socket;
    };
    const [first, second] = [open(), open()];
    await leaveUnread(first, () => unread.total > 150_000);
    const left = unread.total;
    await leaveUnread(second, () => unread.total > left);
    await leaveUnread(second, () => droppedFor(counters, 'memory') === 1);
    expect(unread.total).toBeLessThan(maxUnreadBytes);
    expect(idOf((await askOneTcp(server, query(5)))!)).toBe(5);
    second.resume();
    await expect.poll(() => unread.total).toBe(0);
    expect(second.destroyed).toBe(false);
    first.resume();
    await expect.poll(() => first.destroyed).toBe(true);
  });

  it('answers the queries that it has read when it drains, then closes', async () => {
    const { listener, handler, server } = await tcp();
    handler.isHolding = true;
    const asked = askTcp(server, [frame(query(1))], 2);
    await expect.poll(() => handler.held.length).toBe(1);
    listener.drain();
    await expect(askTcp(server, [], 1)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    handler.release();
    expect((await asked).map(idOf)).toEqual([1]);
  });
});
