import { createSocket } from 'node:dgram';
import { expect, it, onTestFinished } from 'vitest';
import { SocketPoller } from './socket-poller.js';
import { loadSystemCalls } from './system-calls.js';
import { UdpSocket } from './udp-socket.js';

const calls = loadSystemCalls();

function openSocket(): UdpSocket {
  const socket = UdpSocket.open(calls, { host: '127.0.0.1', port: 0, receiveBufferBytes: 65_536 });
  onTestFinished(() => {
    socket.close();
  });
  return socket;
}

it('a wait tells which sockets have datagrams, and no socket that was removed', async () => {
  const poller = new SocketPoller(calls);
  onTestFinished(() => {
    poller.close();
  });
  const [idle, full, removed] = [openSocket(), openSocket(), openSocket()];
  for (const { fd } of [idle, full, removed]) poller.add(fd);
  poller.remove(removed.fd);
  expect(poller.wait(0)).toBe(0);
  const client = createSocket('udp4');
  for (const { port } of [full, removed]) {
    await new Promise((resolve) => client.send('query', port, '127.0.0.1', resolve));
  }
  client.close();
  expect(poller.wait(1_000)).toBe(1);
  expect(poller.fdAt(0)).toBe(full.fd);
});

it('a wait on a closed poller fails, and is not taken for one that found nothing', () => {
  const poller = new SocketPoller(calls);
  poller.close();
  expect(() => poller.wait(0)).toThrow('epoll_wait: EBADF');
});
