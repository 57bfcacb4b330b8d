import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { networkInterfaces } from 'node:os';
import { BatchReceiver, discard, MAX_DATAGRAM_BYTES } from './batch-receiver.js';
import { BatchSender } from './batch-sender.js';
import { MSG_DONTWAIT } from './linux.js';
import { ROUTE_WORDS, routeTo } from './socket-address.js';
import { SocketPoller } from './socket-poller.js';
import { loadSystemCalls, type SystemCalls, SystemError } from './system-calls.js';
import { BATCH, UdpSocket, type UdpSocketOptions } from './udp-socket.js';

const LISTEN = { host: '127.0.0.1', port: 0 };

interface Received {
  readonly text: string;
  readonly from: RemoteInfo;
}

/** A socket, and what receives and sends its datagrams. */
class TestSocket {
  readonly receiver: BatchReceiver;
  readonly sender: BatchSender;
  readonly route = new Int32Array(ROUTE_WORDS);

  constructor(
    readonly socket: UdpSocket,
    calls: SystemCalls,
  ) {
    this.receiver = new BatchReceiver(calls, socket);
    this.sender = new BatchSender(calls, socket, MSG_DONTWAIT);
  }

  get port(): number {
    return this.socket.port;
  }

  receive(): number {
    return this.receiver.receive(MSG_DONTWAIT);
  }

  textOf(slot: number): string {
    const bytes = this.receiver.bytesOf(slot).subarray(0, this.receiver.lengthOf(slot));
    return Buffer.from(bytes).toString();
  }

  answer(slot: number, text: string): void {
    this.receiver.copyRoute(slot, this.route);
    this.sender.queue(this.route, Buffer.from(text), text.length);
  }

  /** Answers every datagram that has arrived with its own bytes. @returns their texts */
  echo(onFailed: (isBusy: boolean) => void): string[] {
    const texts = Array.from({ length: this.receive() }, (_, slot) => this.textOf(slot));
    for (const [slot, text] of texts.entries()) this.answer(slot, text);
    this.sender.flush(onFailed);
    return texts;
  }

  close(): void {
    this.socket.close();
  }
}

describe('UdpSocket', () => {
  const calls = loadSystemCalls();
  const toClose: { close(): void }[] = [];
  afterEach(() => {
    for (const one of toClose.splice(0)) one.close();
  });

  const open = (options: Partial<UdpSocketOptions> = {}, using = calls): TestSocket => {
    const socket = new TestSocket(UdpSocket.open(using, { ...LISTEN, ...options }), using);
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
    expect(socket.echo(never)).toEqual(['hello']);
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
      socket.echo(never);
      expect((await answer).from.address).toBe(asked);
    }
  });

  it('receives no more than a batch at once, and the rest the next time', async () => {
    const socket = open();
    const one = await client();
    const texts = Array.from({ length: BATCH + 3 }, (_, i) => `query ${i}`);
    for (const text of texts) await send(one, text, socket.port, '127.0.0.1');
    const first = socket.echo(never);
    expect(first).toHaveLength(BATCH);
    expect([...first, ...socket.echo(never)]).toEqual(texts);
    expect(socket.receive()).toBe(0);
  });

  it('sends each answer to its own client', async () => {
    const socket = open();
    const clients = await Promise.all(Array.from({ length: 5 }, () => client()));
    const answers = clients.map(next);
    for (const [i, one] of clients.entries()) await send(one, `${i}`, socket.port, '127.0.0.1');
    socket.echo(never);
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(['0', '1', '2', '3', '4']);
  });

  it('tells the length of a datagram that is longer than a slot', async () => {
    const socket = open();
    const one = await client();
    const lengths = [MAX_DATAGRAM_BYTES, MAX_DATAGRAM_BYTES + 1000];
    for (const length of lengths) await send(one, 'x'.repeat(length), socket.port, '127.0.0.1');
    expect(socket.receive()).toBe(2);
    expect([0, 1].map((slot) => socket.receiver.lengthOf(slot))).toEqual(lengths);
  });

  it('sends the other answers when the kernel refuses one', async () => {
    const socket = open();
    const one = await client();
    const answer = next(one);
    for (const text of ['first', 'second']) await send(one, text, socket.port, '127.0.0.1');
    expect(socket.receive()).toBe(2);
    const failed: boolean[] = [];
    const { route, receiver, sender } = socket;
    receiver.copyRoute(0, route);
    // To port 0.
    route[0] &= 0xffff;
    sender.queue(route, Buffer.from('lost'), 4);
    socket.answer(1, 'sent');
    sender.flush((isBusy) => failed.push(isBusy));
    expect(failed).toEqual([false]);
    expect((await answer).text).toBe('sent');
    expect(sender.hasRoom).toBe(true);
  });

  it('sends bytes that were written in their place', async () => {
    const socket = open();
    const one = await client();
    const answer = next(one);
    await send(one, 'query', socket.port, '127.0.0.1');
    expect(socket.receive()).toBe(1);
    const { route, receiver, sender } = socket;
    receiver.copyRoute(0, route);
    Buffer.from('in place').copy(sender.next);
    sender.queue(route, sender.next, 8);
    sender.flush(never);
    expect((await answer).text).toBe('in place');
  });

  it.each(['127.0.0.1', '::1'])('takes datagrams of its peer only (%s)', async (host) => {
    const type = host === '::1' ? 'udp6' : 'udp4';
    const [peer, stranger] = [await client(type), await client(type)];
    const { port, address } = peer.address();
    const socket = open({ host: host === '::1' ? '::' : '0.0.0.0', peer: { address, port } });
    // The address from which the kernel sends to this peer.
    expect(socket.socket.localAddress).toBe(host === '::1' ? `${'0'.repeat(31)}1` : '7f000001');
    for (const one of [peer, stranger]) {
      await send(one, one === peer ? 'answer' : 'forged', socket.port, host).catch(() => undefined);
    }
    await expect.poll(() => socket.receive()).toBe(1);
    expect(socket.textOf(0)).toBe('answer');
    expect(socket.receive()).toBe(0);
  });

  it('says why it cannot be connected', () => {
    expect(() => open({ host: '0.0.0.0', peer: { address: '255.255.255.255', port: 53 } })).toThrow(
      'connect: EACCES',
    );
  });

  it('tells which of several sockets has datagrams', async () => {
    const sockets = [open(), open({ host: '::1' }), open()];
    const poller = new SocketPoller(calls);
    toClose.push(poller);
    for (const { socket } of sockets) poller.add(socket.fd);
    const ready = (timeoutMs: number) => {
      const count = poller.wait(timeoutMs);
      const found = Array.from({ length: count }, (_, i) => poller.fdAt(i));
      return sockets.map(({ socket }) => found.includes(socket.fd));
    };
    expect(ready(1)).toEqual([false, false, false]);
    await send(await client('udp6'), 'query', sockets[1].port, '::1');
    expect(ready(60_000)).toEqual([false, true, false]);
    sockets[1].echo(never);
    expect(ready(1)).toEqual([false, false, false]);
    const one = await client();
    for (const at of [0, 2]) await send(one, 'query', sockets[at].port, '127.0.0.1');
    await expect.poll(() => ready(0)).toEqual([true, false, true]);
    poller.remove(sockets[0].socket.fd);
    expect(ready(0)).toEqual([false, false, true]);
    expect(() => {
      poller.remove(sockets[0].socket.fd);
    }).toThrow(SystemError);
  });

  const linkLocal = Object.entries(networkInterfaces())
    .flatMap(([zone, addresses = []]) => addresses.map((one) => ({ zone, ...one })))
    .find((one) => one.family === 'IPv6' && one.scopeid !== 0);
  const NEEDS_ADDRESS = {
    skip: linkLocal === undefined,
    meta: { needs: 'a link-local address of IPv6' },
  };
  it('answers on a link-local address', NEEDS_ADDRESS, async () => {
    const host = `${linkLocal!.address}%${linkLocal!.zone}`;
    const socket = open({ host });
    const one = createSocket('udp6');
    toClose.push(one);
    const answer = next(one);
    await send(one, 'query', socket.port, host);
    socket.echo(never);
    expect(await answer).toMatchObject({ text: 'query', from: { address: host } });
  });

  it('names an interface that does not exist', () => {
    expect(() => open({ host: 'fe80::1%nowhere' })).toThrow('there is no interface nowhere');
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
    const failed: boolean[] = [];
    socket.echo((isBusy) => failed.push(isBusy));
    await arrived;
    expect(texts).toEqual(['0', '1', '2']);
    expect(failed).toEqual([true, true]);
  });

  it('waits for room once in a batch at most', () => {
    // As above, the kernel has no room.
    const waits: boolean[] = [];
    const full: SystemCalls = {
      ...calls,
      sendmmsg: (_fd, _messages, _count, flags) => {
        waits.push((flags & MSG_DONTWAIT) === 0);
        return -1;
      },
      errno: () => 11,
    };
    const { socket } = open();
    const sender = new BatchSender(full, socket, 0);
    for (const expected of [
      [true, false, false],
      [true, false, false],
    ]) {
      for (let i = 0; i < 3; i++) sender.queue(routeTo('127.0.0.1', 9), Buffer.from('answer'), 6);
      const failed: boolean[] = [];
      sender.flush((isBusy) => failed.push(isBusy));
      expect(failed).toEqual([true, true, true]);
      expect(waits.splice(0)).toEqual(expected);
    }
  });

  it('throws away what has arrived, and counts it', async () => {
    const { socket } = open();
    expect(discard(calls, socket)).toBe(0);
    const one = await client();
    for (let i = 0; i < BATCH + 3; i++) await send(one, `${i}`, socket.port, '127.0.0.1');
    expect(discard(calls, socket)).toBe(BATCH + 3);
    expect(discard(calls, socket)).toBe(0);
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
    expect(open({ receiveBufferBytes: 65_536 }).socket.receiveBufferBytes).toBe(65_536);
  });
});
