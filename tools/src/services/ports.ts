import { findFreePort, StartError } from '@weir/ops';
import { once } from 'node:events';
import { connect } from 'node:net';

const ATTEMPTS = 5;

/** A server exited before it could be reached. */
export class ExitedError extends StartError {}

/**
 * Starts a server on the given port, or on a free one. Another program may take the free port first, so a server that
 * exits is then started again on another port.
 * @param start throws ExitedError when the server has exited
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
