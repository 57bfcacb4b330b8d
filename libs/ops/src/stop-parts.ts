import type { Logger } from './log.js';

/** Stops one part of a process. */
export type StopPart = () => unknown;

/**
 * Stops parts one after the other, also those behind one that throws.
 * @throws the first error, when all are stopped
 */
export async function stopInTurn(parts: readonly StopPart[]): Promise<void> {
  const errors: unknown[] = [];
  for (const stop of parts) {
    try {
      await stop();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** The same, all at once. */
export async function stopTogether(parts: readonly StopPart[]): Promise<void> {
  const stopping = parts.map((stop) => Promise.try(stop));
  await stopInTurn(stopping.map((stopped) => () => stopped));
}

/** Stops parts in turn because of an error, which it throws. What their stops throw is logged. */
export async function stopAndThrow(
  error: unknown,
  parts: readonly StopPart[],
  log: Pick<Logger, 'error'>,
): Promise<never> {
  await stopInTurn(parts).catch((failure: unknown) => {
    log.error({ err: failure }, 'stopping failed');
  });
  throw error;
}
