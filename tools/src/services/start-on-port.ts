import { StartError } from '@weir/ops';
import { freePort } from './ports.js';

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
