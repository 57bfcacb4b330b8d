import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { discard } from './batch-receiver.js';
import { PortSpread } from './port-spread.js';
import { loadSystemCalls, type SystemCalls } from './system-calls.js';
import { UdpSocket } from './udp-socket.js';

/** Few enough for a receive buffer, and so many that each of four sockets gets some. */
const DATAGRAMS = 150;

describe('PortSpread', () => {
  const calls = loadSystemCalls();
  const toClose: { close(): void }[] = [];
  afterEach(() => {
    for (const one of toClose.splice(0)) one.close();
  });

  /** Sockets that share a port of one address. */
  function openGroup(host: string, count: number): UdpSocket[] {
    const sockets: UdpSocket[] = [];
    while (sockets.length < count) {
      const port = sockets[0]?.port ?? 0;
      sockets.push(UdpSocket.open(calls, { host, port, reusePort: true }));
    }
    toClose.push(...sockets);
    return sockets;
  }

  /** Sends all datagrams from one socket. @returns how many each socket of the group got */
  async function sendTo(group: readonly UdpSocket[], host: string): Promise<number[]> {
    const client = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    toClose.push(client);
    for (let i = 0; i < DATAGRAMS; i++) {
      await new Promise((resolve) => {
        client.send('query', group[0].port, host, resolve);
      });
    }
    return group.map((socket) => discard(calls, socket));
  }

  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);

  it.each(['127.0.0.1', '::1'])(
    'gives what one client sends to %s to all sockets',
    async (host) => {
      const group = openGroup(host, 4);
      new PortSpread(calls, [group[2].fd]).over([0, 1, 2, 3]);
      const counts = await sendTo(group, host);
      expect(sum(counts)).toBe(DATAGRAMS);
      expect(Math.min(...counts)).toBeGreaterThan(DATAGRAMS / 16);
    },
  );

  it('leaves sockets out, and takes them in again', async () => {
    const group = openGroup('127.0.0.1', 4);
    const spread = new PortSpread(calls, [group[0].fd]);
    spread.over([3, 1]);
    const [first, second, third, fourth] = await sendTo(group, '127.0.0.1');
    expect([first, third]).toEqual([0, 0]);
    expect(Math.min(second, fourth)).toBeGreaterThan(DATAGRAMS / 4);
    spread.over([2]);
    expect(await sendTo(group, '127.0.0.1')).toEqual([0, 0, DATAGRAMS, 0]);
    spread.over([0, 1, 2, 3]);
    expect(Math.min(...(await sendTo(group, '127.0.0.1')))).toBeGreaterThan(0);
  });

  it('spreads each of several addresses', async () => {
    const hosts = ['127.0.0.1', '127.0.0.2', '::1'];
    const groups = hosts.map((host) => openGroup(host, 2));
    new PortSpread(
      calls,
      groups.map(([{ fd }]) => fd),
    ).over([1]);
    for (const [i, host] of hosts.entries()) {
      expect(await sendTo(groups[i], host)).toEqual([0, DATAGRAMS]);
    }
  });

  it('names the error of a kernel without the option', () => {
    const ENOPROTOOPT = 92;
    const old: SystemCalls = { ...calls, setsockopt: () => -1, errno: () => ENOPROTOOPT };
    expect(() => {
      new PortSpread(old, [0]).over([0, 1]);
    }).toThrow('setsockopt(SO_ATTACH_REUSEPORT_CBPF): ENOPROTOOPT');
  });
});
