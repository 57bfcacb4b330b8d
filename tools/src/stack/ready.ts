import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;
/** A process that is not ready after this long may take hours: what it needs is away. */
const SOON_MS = 10_000;
const LATER_EVERY_MS = 1_000;
const ANSWER_MS = 2_000;

/**
 * Asks a process again and again until it says that it is ready.
 * @param url its `/readyz`
 * @param signal gives up; its reason is thrown.
 * @throws Error that says why it is not ready, after `deadlineMs`.
 */
export async function untilReady(
  url: string,
  signal: AbortSignal,
  deadlineMs: number,
): Promise<void> {
  const startedMs = performance.now();
  let reason = 'no answer';
  while (performance.now() - startedMs < deadlineMs) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      const text = (await response.text()).trim();
      if (response.ok) return;
      reason = text;
    } catch {
      reason = 'no answer'; // not listening yet
    }
    await sleep(performance.now() - startedMs < SOON_MS ? EVERY_MS : LATER_EVERY_MS);
  }
  throw new Error(reason);
}
