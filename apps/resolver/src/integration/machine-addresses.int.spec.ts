import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { EchoHandler } from '../testing/echo-handler.js';
import { droppedFor, startUdpSockets } from '../testing/listeners.js';
import { NEEDS_NETWORK, OwnNetwork } from '../testing/own-network.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(...options: Parameters<typeof startUdpSockets>) {
  const started = await startUdpSockets(...options);
  cleanups.push(() => started.sockets.stop());
  return started;
}

/** Asks an address of this machine. @returns the id of the answer, and the address that it came from */
function ask(address: string, port: number, id = 7) {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  cleanups.push(() => socket.close());
  return new Promise<{ id: number; from: string }>((resolve) => {
    socket.on('message', (bytes, { address: from }) => {
      resolve({ id: decodeMessage(bytes).id, from });
    });
    socket.send(encodeQuery('www.example.com', 1, { id }), port, address);
  });
}

const texts = (logged: readonly { text: string }[], text: string) =>
  logged.filter((line) => line.text.startsWith(text));

describe('UDP on a wildcard address', () => {
  it.each(['0.0.0.0', '::'])('answers from the address that was asked (%s)', async (host) => {
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '::1'];
    const { port } = await start({ host, machineAddresses: () => addresses });
    for (const address of addresses.filter((one) => host === '::' || one !== '::1')) {
      expect(await ask(address, port)).toEqual({ id: 7, from: address });
    }
  });

  it('leaves IPv4 to another listener', async () => {
    const machineAddresses = () => ['127.0.0.1', '::1'];
    const { port, sockets } = await start({ host: '::', ipv6Only: true, machineAddresses });
    expect(Object.keys(sockets.receiveBuffers)).toEqual(['::', '::1']);
    await start({ host: '0.0.0.0', machineAddresses }, new EchoHandler(), port);
    expect(await ask('127.0.0.1', port)).toEqual({ id: 7, from: '127.0.0.1' });
  });

  it('also answers at addresses that the machine does not list', async () => {
    const { port } = await start({ machineAddresses: () => ['127.0.0.1'] });
    expect(await ask('127.0.0.9', port)).toMatchObject({ id: 7 });
  });

  it('follows addresses that are added and removed, and loses no answer', async () => {
    let addresses = ['127.0.0.2'];
    const following = { machineAddresses: () => addresses, lookIntervalMs: 20 };
    const { port, sockets, handler, counters, logged } = await start(following);
    const open = () => Object.keys(sockets.receiveBuffers);
    addresses = ['127.0.0.2', '127.0.0.3'];
    await expect.poll(open).toEqual(['0.0.0.0', '127.0.0.2', '127.0.0.3']);
    expect(await ask('127.0.0.3', port)).toEqual({ id: 7, from: '127.0.0.3' });
    addresses = ['127.0.0.3'];
    await expect.poll(open).toEqual(['0.0.0.0', '127.0.0.3']);
    expect(await ask('127.0.0.3', port)).toEqual({ id: 7, from: '127.0.0.3' });
    expect(await ask('127.0.0.2', port)).toMatchObject({ id: 7 });
    expect(texts(logged, 'UDP socket')).toMatchObject([
      { address: '127.0.0.3' },
      { address: '127.0.0.2' },
    ]);
    handler.isHolding = true;
    void ask('127.0.0.3', port);
    await expect.poll(() => handler.held.length).toBe(1);
    addresses = [];
    await expect.poll(open).toEqual(['0.0.0.0']);
    handler.release();
    expect(droppedFor(counters, 'unsent')).toBe(1);
  });

  it('still sends an answer from an address that one look did not find', async () => {
    let isGone = false;
    let looks = 0;
    const handler = new EchoHandler();
    const machineAddresses = () => {
      if (!isGone) return ['127.0.0.2'];
      if (++looks === 2) handler.release();
      return [];
    };
    const { port, sockets } = await start({ machineAddresses, lookIntervalMs: 10 }, handler);
    handler.isHolding = true;
    const answer = ask('127.0.0.2', port);
    await expect.poll(() => handler.held.length).toBe(1);
    isGone = true;
    expect(await answer).toEqual({ id: 7, from: '127.0.0.2' });
    await expect.poll(() => Object.keys(sockets.receiveBuffers)).toEqual(['0.0.0.0']);
  });

  it('opens at most 64 sockets besides its own, and says so once', async () => {
    const addresses = Array.from({ length: 70 }, (_, i) => `127.0.1.${i + 1}`);
    const machineAddresses = () => addresses;
    const { port, sockets, logged } = await start({ machineAddresses, lookIntervalMs: 10 });
    expect(Object.keys(sockets.receiveBuffers)).toHaveLength(65);
    expect(await ask('127.0.1.64', port)).toEqual({ id: 7, from: '127.0.1.64' });
    expect(await ask('127.0.1.65', port)).toMatchObject({ id: 7 });
    expect(texts(logged, 'too many addresses')).toEqual([
      expect.objectContaining({ host: '0.0.0.0', addresses: 70, maxAddresses: 64 }),
    ]);
  });

  it('goes on without an address that cannot be bound, and says so once', async () => {
    let looks = 0;
    const machineAddresses = () => {
      looks++;
      return ['192.0.2.254', '127.0.0.2'];
    };
    const { port, logged } = await start({ machineAddresses, lookIntervalMs: 10 });
    expect(await ask('127.0.0.2', port)).toEqual({ id: 7, from: '127.0.0.2' });
    await expect.poll(() => looks).toBeGreaterThan(3);
    expect(texts(logged, 'no UDP socket')).toMatchObject([{ address: '192.0.2.254' }]);
  });

  it('refuses a port that another process shares willingly', async () => {
    const other = createSocket({ type: 'udp4', reuseAddr: true });
    cleanups.push(() => other.close());
    await new Promise<void>((resolve) => {
      other.bind(0, '127.0.0.2', resolve);
    });
    const { port } = other.address();
    await expect(start({}, new EchoHandler(), port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('on a machine with addresses of its own', NEEDS_NETWORK, () => {
  it('dig accepts the answers of each address, also of one that is added later', async () => {
    const network = await OwnNetwork.start({ DNS_HOST: '::', DNS_PORT: '53' }, [
      '192.0.2.53',
      '2001:db8::53',
    ]);
    cleanups.push(() => network.stop());
    const dig = (address: string) => {
      // From another address than the one that is asked: the kernel would answer from that.
      const from = address.includes(':') ? '::1' : '127.0.0.1';
      return network.run('dig', '+tries=1', '+time=2', '-b', from, `@${address}`, 'example.com');
    };
    const answered = { timeout: 30_000, interval: 500 };
    for (const address of ['192.0.2.53', '2001:db8::53']) {
      await expect.poll(() => dig(address), answered).toContain('status: SERVFAIL');
    }
    await network.run('ip', 'address', 'add', '192.0.2.54/32', 'dev', 'lo');
    await expect.poll(() => dig('192.0.2.54'), answered).toContain('status: SERVFAIL');
  });
});
