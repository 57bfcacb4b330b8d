import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.js';
import { Unreachable } from './api.js';

const PAUSE_MS = 1000;

/**
 * Runs some work again and again until Ctrl-C is pressed. After the first time, a control plane that cannot be reached,
 * as while it restarts, is waited for.
 */
export async function untilInterrupted(
  { terminal, interrupted }: Context,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = interrupted();
  for (let isFirst = true, isLost = false; !signal.aborted; isFirst = false) {
    try {
      await work(signal);
      isLost = false;
    } catch (error) {
      if (signal.aborted) return;
      if (isFirst || !(error instanceof Unreachable)) throw error;
      if (!isLost) terminal.printError(`weir: ${error.message}; trying again`);
      isLost = true;
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}
