import {
  BatchSender,
  loadSystemCalls,
  MSG_DONTWAIT,
  routeTo,
  SocketPoller,
  type SystemCalls,
  UdpSocket,
} from '@weir/udp-batch';
import { createSocket, type Socket } from 'node:dgram';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ForwardingCounts, UpstreamCount } from '../metrics/forwarding-counts.js';
import { NO_TURN } from '../testing/test-clock.js';
import { type BatchedSocket, OpenSockets, UpstreamBatches } from './upstream-batches.js';

describe.each([
  ['udp4', '127.0.0.1'],
  ['udp6', '::1'],
] as const)('UpstreamBatches (%s)', (type, address) => {
  const calls = loadSystemCalls();
  const toClose: { close(): void }[] = [];
  afterEach(() => {
    for (const one of toClose.splice(0)) one.close();
  });

  const server = async (): Promise<Socket> => {
    const socket = createSocket(type);
    toClose.push(socket);
    await new Promise<void>((resolve) => socket.bind(0, address, resolve));
    return socket;
  };

  const send = (from: Socket, text: string, port: number): Promise<void> =>
    new Promise((resolve) => {
      from.send(text, port, address, () => {
        resolve();
      });
    });

  const createBatches = (upstream: Socket, isPolled = false) => {
    const counts = new Float64Array(ForwardingCounts.sizeFor(1));
    const endpoint = { address, port: upstream.address().port };
    const poller = isPolled ? new SocketPoller(calls) : null;
    if (poller !== null) toClose.push(poller);
    const openSockets = new OpenSockets(poller);
    const options = { calls, endpoint, turn: NO_TURN, openSockets, counts };
    return { batches: new UpstreamBatches(options), openSockets, poller, counts };
  };

  const open = (batches: UpstreamBatches, bufferBytes = 65_536) => {
    const opened = batches.open(bufferBytes);
    toClose.push(opened);
    const packets: string[] = [];
    const socket: BatchedSocket & { isClosed: boolean } = {
      fd: opened.fd,
      isClosed: false,
      onPacket: (packet, length) => packets.push(Buffer.from(packet).toString('utf8', 0, length)),
      onUnreachable: () => packets.push('unreachable'),
      receive: () => batches.receive(socket),
    };
    return { socket, packets, port: opened.port };
  };

  it('takes packets of the upstream only', async () => {
    const [upstream, stranger] = [await server(), await server()];
    const { batches } = createBatches(upstream);
    const { socket, packets, port } = open(batches);
    await send(upstream, 'one', port);
    await send(stranger, 'forged', port).catch(() => undefined);
    await send(upstream, 'two', port);
    expect(batches.receive(socket)).toBe(2);
    expect(packets).toEqual(['one', 'two']);
    expect(batches.receive(socket)).toBe(0);
  });

  it('takes no more packets of a socket that was closed because of one', async () => {
    const upstream = await server();
    const { batches } = createBatches(upstream);
    const { socket, packets, port } = open(batches);
    for (const text of ['one', 'two']) await send(upstream, text, port);
    batches.receive({
      ...socket,
      get isClosed() {
        return packets.length > 0;
      },
    });
    expect(packets).toEqual(['one']);
  });

  it('tells a socket that its upstream cannot be reached', async () => {
    const upstream = await server();
    const { batches } = createBatches(upstream);
    const { socket, packets } = open(batches);
    await new Promise<void>((resolve) => void upstream.close(resolve));
    toClose.splice(toClose.indexOf(upstream), 1);
    batches.send(socket, Buffer.from('query'), 5);
    expect(batches.isFilling(socket)).toBe(true);
    batches.flush();
    expect(batches.isFilling(socket)).toBe(false);
    // The refusal that follows the first query is what the second one meets.
    batches.send(socket, Buffer.from('query'), 5);
    batches.flush();
    expect(packets).toEqual(['unreachable']);
  });

  it('counts batches, and when a socket is closed, what the kernel dropped because its buffer was full', async () => {
    const upstream = await server();
    const { batches, counts } = createBatches(upstream);
    const { socket, port } = open(batches, 4096);
    batches.join(socket);
    for (let i = 0; i < 50; i++) await send(upstream, 'x'.repeat(1000), port);
    batches.leave(socket);
    const drops = counts[UpstreamCount.kernelDrops];
    expect(drops).toBeGreaterThan(0);
    batches.leave(socket);
    expect(counts[UpstreamCount.kernelDrops]).toBe(drops);
    for (let i = 0; i < 3; i++) batches.send(socket, Buffer.from('query'), 5);
    batches.flush();
    expect(counts[UpstreamCount.batches]).toBe(1);
  });

  it('sends when the turn of the event loop ends, or when its owner says so', async () => {
    for (const isPolled of [false, true]) {
      const { batches, counts } = createBatches(await server(), isPolled);
      const { socket } = open(batches);
      for (let i = 0; i < 3; i++) batches.send(socket, Buffer.from('query'), 5);
      expect(counts[UpstreamCount.batches]).toBe(0);
      await nextTurn();
      expect(counts[UpstreamCount.batches]).toBe(isPolled ? 0 : 1);
      batches.flush();
      expect(counts[UpstreamCount.batches]).toBe(1);
    }
  });

  it('receives from the open sockets of which the poller tells', async () => {
    const upstream = await server();
    const { batches, openSockets, poller } = createBatches(upstream, true);
    const [first, second] = [open(batches), open(batches)];
    for (const { socket } of [first, second]) batches.join(socket);
    const ready = () => Array.from({ length: poller!.wait(1_000) }, (_, i) => poller!.fdAt(i));
    await send(upstream, 'answer', second.port);
    expect(ready()).toEqual([second.socket.fd]);
    expect(openSockets.receive(second.socket.fd)).toBe(1);
    expect(second.packets).toEqual(['answer']);
    for (const { port } of [first, second]) await send(upstream, 'late', port);
    batches.leave(first.socket);
    expect(ready()).toEqual([second.socket.fd]);
    expect(openSockets.receive(first.socket.fd)).toBe(0);
  });

  it('throws away what strangers have sent before the socket was connected', async () => {
    const [upstream, stranger] = [await server(), await server()];
    const counts = new Float64Array(ForwardingCounts.sizeFor(1));
    const strangers = loadSystemCalls();
    const from = UdpSocket.open(strangers, { host: address, port: 0 });
    toClose.push(from);
    const sender = new BatchSender(strangers, from, MSG_DONTWAIT);
    const forging: SystemCalls = {
      ...calls,
      connect: (fd, peer, length) => {
        const local = new Uint8Array(32);
        calls.getsockname(fd, local, Int32Array.of(local.length));
        const port = local[2] * 256 + local[3];
        for (let i = 0; i < 3; i++) sender.queue(routeTo(address, port), Buffer.from('forged'), 6);
        sender.flush(() => undefined);
        return calls.connect(fd, peer, length);
      },
    };
    const endpoint = { address, port: upstream.address().port };
    const openSockets = new OpenSockets(null);
    const options = { calls: forging, endpoint, turn: NO_TURN, openSockets, counts };
    const batches = new UpstreamBatches(options);
    const { socket, packets, port } = open(batches);
    await send(stranger, 'forged', port).catch(() => undefined);
    await send(upstream, 'answer', port);
    expect(batches.receive(socket)).toBe(1);
    expect(packets).toEqual(['answer']);
  });
});
