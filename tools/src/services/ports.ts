import { isBlockedPort, StartError } from '@weir/ops';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, createServer, isIP } from 'node:net';

const ATTEMPTS = 5;

/** A server exited before it could be reached. */
export class ExitedError extends StartError {}

/**
 * Starts a server on the given port, or on a free one. Another process may take the free port first, so a server
 * that exits is then started again on another port.
 * @param start throws ExitedError when the server has exited.
 */
export async function startOnPort<S>(
  wanted: number | undefined,
  start: (port: number) => Promise<S>,
): Promise<S> {
  if (wanted !== undefined) return start(wanted);
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (!(error instanceof ExitedError) || attempt === ATTEMPTS) throw error;
    }
  }
}

const CONNECT_TIMEOUT_MS = 3_000;
const DEFAULT_REDIS_PORT = 6379;

/** A port that a process of the stack needs. */
export interface RequiredPort {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  /** The variables of the port and of the address, for the message. */
  readonly variable: string;
  readonly hostVariable: string;
}

/**
 * Below the kernel's range for outgoing connections, so no connection takes the port of a server that restarts. A
 * deployment has a range of its own, so that tests that run at the same time leave its ports alone.
 */
const FREE_PORTS = [15_000, 19_999] as const;
const DEPLOYMENT_PORTS = [2_000, 9_999] as const;
const TRIES = 1_000;

/** A loopback port that is free for TCP and UDP now. */
export async function freePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1, FREE_PORTS);
  return port;
}

/** Several of them, to which `fetch` connects. @param range lowest and highest */
export async function findFreePorts(
  count: number,
  [lowest, highest]: readonly [number, number] = DEPLOYMENT_PORTS,
): Promise<number[]> {
  const chosen = new Set<number>();
  for (let tries = 0; chosen.size < count; tries++) {
    if (tries > TRIES) throw new StartError(`there are no free ports from ${lowest} to ${highest}`);
    const port = randomInt(lowest, highest + 1);
    if (isBlockedPort(port)) continue;
    const one = { host: '127.0.0.1', port };
    if ((await tryTcp(one)) === null && (await tryUdp(one)) === null) chosen.add(port);
  }
  return [...chosen];
}

/**
 * Checks that all ports are free. @throws StartError that names the first port that two processes need, or that is
 * not available, and its variable.
 */
export async function checkPortsFree(wanted: readonly RequiredPort[]): Promise<void> {
  for (const [index, one] of wanted.entries()) {
    const other = wanted.slice(0, index).find((earlier) => isSamePort(earlier, one));
    if (other) {
      const name = `${one.protocol.toUpperCase()} port ${one.port}`;
      throw new StartError(`${other.variable} and ${one.variable} both come to ${name}`);
    }
    const error = await (one.protocol === 'tcp' ? tryTcp(one) : tryUdp(one));
    if (error !== null) throw new StartError(explain(one, error));
  }
}

/** Checks that something listens at the URL. @throws StartError that names the variable. */
export async function checkReachable(url: string, variable: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const reason = await new Promise<string | null>((resolve) => {
    const socket = connect(Number(port || DEFAULT_REDIS_PORT), host);
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => {
      socket.destroy();
      resolve(null);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
  });
  if (reason !== null) {
    throw new StartError(
      `nothing answers at ${hostname}:${port || DEFAULT_REDIS_PORT} (${variable}): ${reason}`,
    );
  }
}

function isSamePort(a: RequiredPort, b: RequiredPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && overlap(a.host, b.host);
}

/** Whether both cannot be listened on with one port: they are the same, or one stands for all of its family. */
function overlap(a: string, b: string): boolean {
  const isAny = [a, b].some((host) => host === '0.0.0.0' || host === '::');
  return a === b || (isAny && isIP(a) === isIP(b));
}

function explain(one: RequiredPort, error: NodeJS.ErrnoException): string {
  const host = one.host.includes(':') ? `[${one.host}]` : one.host;
  const port = `${one.protocol.toUpperCase()} port ${host}:${one.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${port} is in use by another process; set ${one.variable} to another`;
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine; set ${one.hostVariable} to one`;
    default:
      return `${port} cannot be used (${error.code ?? error.message}); set ${one.variable} to another`;
  }
}

function tryTcp({
  host,
  port,
}: Pick<RequiredPort, 'host' | 'port'>): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen(port, host, () =>
      server.close(() => {
        resolve(null);
      }),
    );
  });
}

function tryUdp({
  host,
  port,
}: Pick<RequiredPort, 'host' | 'port'>): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', resolve);
    socket.bind(port, host, () =>
      socket.close(() => {
        resolve(null);
      }),
    );
  });
}
