import { StartError } from '@weir/ops';
import { freePort } from './ports.js';

const ATTEMPTS = 5;

/** A server that ended before it could be reached. */
export class ExitedError extends StartError {}

/**
 * Starts a server on the wanted port, or on one that is free. Another process may take that before the server does,
 * so a server that ends by itself is then started again on another.
 * @param start throws ExitedError when the server has ended.
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
