import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again and again. @returns whether the condition was met in time */
export async function until(
  isMet: () => boolean | Promise<boolean>,
  withinMs: number,
  pollMs = 50,
): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (!(await isMet())) {
    if (performance.now() > endMs) return false;
    await sleep(pollMs);
  }
  return true;
}
