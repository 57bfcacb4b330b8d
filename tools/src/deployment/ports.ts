import { isBlockedPort, StartError } from '@weir/ops';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { Random } from './random.js';

/**
 * Below the kernel's range for outgoing connections, so no connection takes the port of a process that restarts. Not
 * where other tests, which run at the same time, find free ports.
 */
const [MIN_PORT, MAX_PORT] = [2_000, 9_999];
const TRIES = 1_000;

/** `count` loopback ports that are free for TCP and UDP now, and to which `fetch` connects. */
export async function findFreePorts(count: number, random: Random): Promise<number[]> {
  const chosen = new Set<number>();
  for (let tries = 0; chosen.size < count; tries++) {
    if (tries > TRIES) throw new StartError('there are no free ports');
    const port = random.integer(MIN_PORT, MAX_PORT);
    if (isBlockedPort(port)) continue;
    if ((await isFreeTcp(port)) && (await isFreeUdp(port))) chosen.add(port);
  }
  return [...chosen];
}

function isFreeTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}

function isFreeUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => {
      resolve(false);
    });
    socket.bind(port, '127.0.0.1', () =>
      socket.close(() => {
        resolve(true);
      }),
    );
  });
}
