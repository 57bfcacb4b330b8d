import { setImmediate as nextTurn } from 'node:timers/promises';
import { vi } from 'vitest';

/** More than `Yielder` lets pass without a yield. */
const CLOCK_STEP_MS = 20;

/**
 * Runs long work, by a clock that goes on with each look at it, so that the work is long on a fast machine too.
 * @returns how often other callbacks of the event loop ran before it had ended.
 */
export async function otherTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const other = (): void => {
    turns++;
    next = setImmediate(other);
  };
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += CLOCK_STEP_MS));
  let next = setImmediate(other);
  try {
    await work();
  } finally {
    clock.mockRestore();
    clearImmediate(next);
    // The last slice ends with its turn. By the clock of the next work it would last for ever.
    await nextTurn();
  }
  return turns;
}
