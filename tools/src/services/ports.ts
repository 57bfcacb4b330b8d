import { findFreePort, StartError } from '@weir/ops';
import { once } from 'node:events';
import { connect } from 'node:net';

const CONNECT_TIMEOUT_MS = 3_000;
const DEFAULT_REDIS_PORT = 6379;

/**
 * Below the kernel's range for outgoing connections, so no connection takes the port of a server that restarts. A
 * deployment has a range of its own, so that tests that run at the same time leave its ports alone.
 */
const FREE_PORTS = [15_000, 19_999] as const;
const DEPLOYMENT_PORTS = [2_000, 9_999] as const;

export const freePort = (): Promise<number> => findFreePort(FREE_PORTS);

/** Ports of a deployment. */
export const findFreePorts = (count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => findFreePort(DEPLOYMENT_PORTS)));

/** Checks that something listens at the URL. @throws StartError that names the variable. */
export async function checkReachable(url: string, variable: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const at = Number(port || DEFAULT_REDIS_PORT);
  const socket = connect(at, hostname.replace(/^\[|\]$/g, ''));
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException;
    const reason = name === 'AbortError' ? 'no answer' : (code ?? message);
    throw new StartError(`nothing answers at ${hostname}:${at} (${variable}): ${reason}`, {
      cause: error,
    });
  } finally {
    socket.destroy();
  }
}
