import { endsWithin } from '../runtime/ends-within.js';

/** How long a request waits for what is being made. Shorter than the timeout of followers. */
const HOLD_MS = 5_000;

/** What is being got, if it is there soon. Undefined: it takes longer. It is released then. */
export async function soon<T extends { release(): void } | null>(
  getting: Promise<T>,
): Promise<T | undefined> {
  if (await endsWithin(getting, HOLD_MS)) return getting;
  getting.then(
    (got) => got?.release(),
    () => undefined,
  );
  return undefined;
}
