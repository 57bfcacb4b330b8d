import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
/** Below the kernel's range for outgoing connections, which would take the port on all addresses. */
const [MIN_PORT, MAX_PORT] = [20_000, 31_999];
const TRIES = 1_000;

/** A port that was free for UDP and TCP a moment ago. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if ((await isUdpFree(port)) && (await isTcpFree(port))) return port;
  }
  throw new Error(`no port from ${MIN_PORT} to ${MAX_PORT} is free`);
}

async function isUdpFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port, LOOPBACK);
  try {
    await once(socket, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

async function isTcpFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, LOOPBACK);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
