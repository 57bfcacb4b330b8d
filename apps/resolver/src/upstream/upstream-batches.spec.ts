import { loadSystemCalls } from '@weir/udp-batch';
import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { NO_TURN } from '../testing/test-clock.js';
import { type BatchedSocket, UpstreamBatches } from './upstream-batches.js';

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

  /** A socket that is not connected, as it is for a moment: the kernel takes packets from anyone. */
  const open = (batches: UpstreamBatches, bufferBytes = 65_536) => {
    const opened = batches.open(bufferBytes);
    toClose.push(opened);
    const packets: string[] = [];
    const socket: BatchedSocket & { isClosed: boolean } = {
      fd: opened.fd,
      isClosed: false,
      onPacket: (packet, length) => packets.push(Buffer.from(packet).toString('utf8', 0, length)),
      onUnreachable: () => packets.push('unreachable'),
    };
    return { socket, packets, port: opened.port };
  };

  it('takes packets of the upstream only, whatever has arrived before the socket was connected', async () => {
    const [upstream, stranger] = [await server(), await server()];
    const batches = new UpstreamBatches(calls, { address, port: upstream.address().port }, NO_TURN);
    const { socket, packets, port } = open(batches);
    await send(upstream, 'one', port);
    await send(stranger, 'forged', port);
    await send(upstream, 'two', port);
    batches.receive(socket);
    expect(packets).toEqual(['one', 'two']);
    batches.receive(socket);
    expect(packets).toHaveLength(2);
  });

  it('takes no more packets of a socket that was closed because of one', async () => {
    const upstream = await server();
    const batches = new UpstreamBatches(calls, { address, port: upstream.address().port }, NO_TURN);
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

  it('tells a socket that the kernel did not take its query, and sends the others', async () => {
    const upstream = await server();
    const batches = new UpstreamBatches(calls, { address, port: upstream.address().port }, NO_TURN);
    const { socket, packets } = open(batches);
    // Without a peer.
    batches.send(socket, Buffer.from('query'), 5);
    expect(batches.isFilling(socket)).toBe(true);
    batches.flush();
    expect(batches.isFilling(socket)).toBe(false);
    expect(packets).toEqual(['unreachable']);
  });

  it('counts batches, and what the kernel drops because a receive buffer is full', async () => {
    const upstream = await server();
    const batches = new UpstreamBatches(calls, { address, port: upstream.address().port }, NO_TURN);
    const { socket, port } = open(batches, 4096);
    batches.join(socket);
    expect(batches.kernelDrops).toBe(0);
    for (let i = 0; i < 50; i++) await send(upstream, 'x'.repeat(1000), port);
    await expect.poll(() => batches.kernelDrops).toBeGreaterThan(0);
    const before = batches.kernelDrops;
    batches.leave(socket);
    expect(batches.kernelDrops).toBe(before);
    for (let i = 0; i < 3; i++) batches.send(socket, Buffer.from('query'), 5);
    batches.flush();
    expect(batches.sent).toBe(1);
  });
});
