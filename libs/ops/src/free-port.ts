import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { StartError } from './start-error.js';
import { isBlockedPort } from './variables/network-kinds.js';

const LOOPBACK = '127.0.0.1';
const TRIES = 1_000;

/**
 * A loopback port of the range, free for TCP and UDP, to which `fetch` connects. No other process that asks here gets
 * or tries it while this one runs: its server may start later, and be away for a while.
 * @param range lowest and highest
 */
export async function findFreePort([lowest, highest]: readonly [number, number]): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(lowest, highest + 1);
    const reservation = isBlockedPort(port) ? null : await reserve(port);
    if (reservation === null) continue;
    if (await isFree(port)) return port;
    reservation.close();
  }
  throw new StartError(`there are no free ports from ${lowest} to ${highest}`);
}

/** Takes a name that Linux gives to one process at a time, and takes back when that ends. @returns null: it is taken */
async function reserve(port: number): Promise<Server | null> {
  const server = createServer().listen(`\0weir-port-${port}`).unref();
  return once(server, 'listening').then(
    () => server,
    () => null,
  );
}

async function isFree(port: number): Promise<boolean> {
  await using udp = createSocket('udp4');
  await using tcp = createServer();
  try {
    await once(udp.bind(port, LOOPBACK), 'listening');
    await once(tcp.listen(port, LOOPBACK), 'listening');
    return true;
  } catch {
    return false;
  }
}
