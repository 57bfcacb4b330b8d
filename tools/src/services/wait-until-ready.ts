import { setTimeout as sleep } from 'node:timers/promises';

const FAST_POLL_MS = 20;
/** A process that is not ready after this time waits for another server and may take hours: poll more slowly. */
const FAST_POLL_FOR_MS = 60_000;
const SLOW_POLL_MS = 1_000;
const RESPONSE_DEADLINE_MS = 2_000;

/**
 * Polls a process until it is ready.
 * @param url its `/readyz`
 * @param signal aborts the wait; its reason is thrown.
 * @throws Error with the reason why it is not ready, after `deadlineMs`.
 */
export async function waitUntilReady(
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
        signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_DEADLINE_MS)]),
      });
      const text = (await response.text()).trim();
      if (response.ok) return;
      reason = text;
    } catch {
      reason = 'no answer'; // not listening yet
    }
    await sleep(performance.now() - startedMs < FAST_POLL_FOR_MS ? FAST_POLL_MS : SLOW_POLL_MS);
  }
  throw new Error(reason);
}
