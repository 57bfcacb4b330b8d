import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { ROUTE_WORDS } from './route.js';
import { loadSystemCalls, type SystemCalls, SystemError } from './system-calls.js';
import {
  BATCH,
  MAX_DATAGRAM_BYTES,
  UdpBatchSocket,
  type UdpBatchOptions,
} from './udp-batch-socket.js';

const loaded = loadSystemCalls();
const LISTEN = { host: '127.0.0.1', port: 0 };

interface Received {
  readonly text: string;
  readonly from: RemoteInfo;
}

describe.skipIf(loaded === null)('UdpBatchSocket', () => {
  const calls = loaded as SystemCalls;
  const toClose: { close(): void }[] = [];
  afterEach(() => {
    for (const one of toClose.splice(0)) one.close();
  });

  const open = (options: Partial<UdpBatchOptions> = {}, using = calls): UdpBatchSocket => {
    const socket = UdpBatchSocket.open(using, { ...LISTEN, ...options });
    toClose.push(socket);
    return socket;
  };

  const client = async (type: 'udp4' | 'udp6' = 'udp4'): Promise<Socket> => {
    const socket = createSocket(type);
    await new Promise<void>((resolve) => {
      socket.bind(0, type === 'udp4' ? '127.0.0.1' : '::1', resolve);
    });
    toClose.push(socket);
    return socket;
  };

  const send = (from: Socket, text: string, port: number, host: string): Promise<void> =>
    new Promise((resolve, reject) => {
      from.send(text, port, host, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });

  const next = (socket: Socket): Promise<Received> =>
    new Promise((resolve) => {
      socket.once('message', (bytes, from) => {
        resolve({ text: bytes.toString(), from });
      });
    });

  const textOf = (socket: UdpBatchSocket, slot: number): string => {
    const offset = socket.offsetOf(slot);
    return Buffer.from(socket.bytes.subarray(offset, offset + socket.lengthOf(slot))).toString();
  };

  /** Answers every datagram that has arrived with its own bytes. @returns their texts */
  const echo = (
    socket: UdpBatchSocket,
    onFailed: (slot: number, isBusy: boolean) => void,
  ): string[] => {
    const texts: string[] = [];
    const route = new Int32Array(ROUTE_WORDS);
    const count = socket.receive();
    for (let slot = 0; slot < count; slot++) {
      const offset = socket.offsetOf(slot);
      socket.copyRoute(slot, route);
      socket.queue(route, socket.bytes.subarray(offset), socket.lengthOf(slot));
      texts.push(textOf(socket, slot));
    }
    socket.flush(onFailed);
    return texts;
  };
  const never = (): never => {
    throw new Error('a datagram was not sent');
  };

  it.each([
    ['IPv4', '127.0.0.1', 'udp4', '127.0.0.1'],
    ['IPv6', '::1', 'udp6', '::1'],
    ['IPv4 on a wildcard', '0.0.0.0', 'udp4', '127.0.0.1'],
    ['IPv6 on the wildcard of both families', '::', 'udp6', '::1'],
    ['IPv4 on the wildcard of both families', '::', 'udp4', '127.0.0.1'],
  ] as const)('answers over %s', async (_, host, type, asked) => {
    const socket = open({ host });
    const one = await client(type);
    const answer = next(one);
    await send(one, 'hello', socket.port, asked);
    expect(echo(socket, never)).toEqual(['hello']);
    expect(await answer).toMatchObject({ text: 'hello', from: { address: asked } });
  });

  it.each([
    ['0.0.0.0', 'IPv4'],
    ['::', 'both families'],
  ])('on the wildcard %s (%s), answers from the address that was asked', async (host) => {
    const socket = open({ host });
    const one = await client();
    for (const asked of ['127.0.0.2', '127.1.2.3']) {
      const answer = next(one);
      await send(one, asked, socket.port, asked);
      echo(socket, never);
      expect((await answer).from.address).toBe(asked);
    }
  });

  it('answers from the address that it is bound to where something else has read the query', async () => {
    const socket = open({ host: '127.0.0.2' });
    const one = await client();
    const answer = next(one);
    const route = new Int32Array(ROUTE_WORDS);
    socket.writeRoute(route, 4, Uint32Array.of(0x7f00_0001), one.address().port);
    socket.queue(route, Buffer.from('hello'), 5);
    socket.flush(never);
    expect(await answer).toMatchObject({ text: 'hello', from: { address: '127.0.0.2' } });
  });

  it('receives no more than a batch at once, and the rest the next time', async () => {
    const socket = open();
    const one = await client();
    const texts = Array.from({ length: BATCH + 3 }, (_, i) => `query ${i}`);
    for (const text of texts) await send(one, text, socket.port, '127.0.0.1');
    const first = echo(socket, never);
    expect(first).toHaveLength(BATCH);
    expect([...first, ...echo(socket, never)]).toEqual(texts);
    expect(socket.receive()).toBe(0);
  });

  it('sends each answer to its own client', async () => {
    const socket = open();
    const clients = await Promise.all(Array.from({ length: 5 }, () => client()));
    const answers = clients.map(next);
    for (const [i, one] of clients.entries()) await send(one, `${i}`, socket.port, '127.0.0.1');
    echo(socket, never);
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(['0', '1', '2', '3', '4']);
  });

  it('tells the length of a datagram that is longer than a slot', async () => {
    const socket = open();
    const one = await client();
    const lengths = [MAX_DATAGRAM_BYTES, MAX_DATAGRAM_BYTES + 1000];
    for (const length of lengths) await send(one, 'x'.repeat(length), socket.port, '127.0.0.1');
    expect(socket.receive()).toBe(2);
    expect([socket.lengthOf(0), socket.lengthOf(1)]).toEqual(lengths);
  });

  it('sends the other answers when the kernel refuses one', async () => {
    const socket = open();
    const one = await client();
    const answer = next(one);
    for (const text of ['first', 'second']) await send(one, text, socket.port, '127.0.0.1');
    expect(socket.receive()).toBe(2);
    const route = new Int32Array(ROUTE_WORDS);
    const failed: [number, boolean][] = [];
    // To port 0.
    socket.copyRoute(0, route);
    route[0] &= 0xffff;
    socket.queue(route, Buffer.from('lost'), 4);
    socket.copyRoute(1, route);
    socket.queue(route, Buffer.from('sent'), 4);
    socket.flush((slot, isBusy) => failed.push([slot, isBusy]));
    expect(failed).toEqual([[0, false]]);
    expect((await answer).text).toBe('sent');
    expect(socket.unsent).toBe(0);
  });

  it('goes on where the kernel took only a part, and tells what it has no room for', async () => {
    // A full send buffer cannot be provoked on loopback, so the limit is put on the call.
    const EAGAIN = 11;
    let room = 3;
    let isFull = false;
    const limited: SystemCalls = {
      ...calls,
      sendmmsg: (fd, messages, count, flags) => {
        isFull = room === 0;
        if (isFull) return -1;
        const sent = calls.sendmmsg(fd, messages, Math.min(count, 2, room), flags);
        room -= sent;
        return sent;
      },
      errno: () => (isFull ? EAGAIN : calls.errno()),
    };
    const socket = open({}, limited);
    const one = await client();
    const texts: string[] = [];
    const arrived = new Promise<void>((resolve) => {
      one.on('message', (bytes) => {
        if (texts.push(bytes.toString()) === 3) resolve();
      });
    });
    for (let i = 0; i < 5; i++) await send(one, `${i}`, socket.port, '127.0.0.1');
    const busy: string[] = [];
    echo(socket, (slot, isBusy) => {
      busy.push(`${Buffer.from(socket.sendSlotBytes(slot)).toString()} ${isBusy}`);
    });
    await arrived;
    expect(texts).toEqual(['0', '1', '2']);
    expect(busy).toEqual(['3 true', '4 true']);
  });

  it('names the error when the port is taken', () => {
    const { port } = open();
    expect(() => open({ port })).toThrow(SystemError);
    expect(() => open({ port })).toThrow('bind: EADDRINUSE');
  });

  it('names the error when the address is not of this machine', () => {
    expect(() => open({ host: '192.0.2.1' })).toThrow('bind: EADDRNOTAVAIL');
  });

  it('shares a port only where both sockets agree', () => {
    const { port } = open({ reusePort: true });
    expect(open({ port, reusePort: true }).port).toBe(port);
    expect(() => open({ port })).toThrow('bind: EADDRINUSE');
  });

  it('leaves IPv4 to another socket', () => {
    const { port } = open({ host: '::', ipv6Only: true });
    expect(open({ host: '0.0.0.0', port }).port).toBe(port);
  });

  it('says which receive buffer the kernel granted', () => {
    expect(open({ receiveBufferBytes: 65_536 }).receiveBufferBytes).toBe(65_536);
  });
});
