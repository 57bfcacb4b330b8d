import type { SourceDefinition } from '@weir/catalogue';
import type { SourceState } from '../store/source-store.js';

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Whether a URL is to be asked now. One that failed is asked again after half a minute, and after twice the pause each further time,
 * but within the hour, and no later than it would be anyway. A URL without an interval belongs to the definition, and is asked with it.
 */
export function isDue(
  { format, refreshMs }: SourceDefinition,
  state: SourceState | undefined,
): boolean {
  if (state === undefined) return true;
  const sinceMs = state.sinceAttempt * 1000;
  if (state.failures === 0) return state.format !== format || sinceMs >= (refreshMs ?? 0);
  const pauseMs = FIRST_PAUSE_MS * 2 ** (state.failures - 1);
  return sinceMs >= Math.min(pauseMs, LONGEST_PAUSE_MS, refreshMs ?? FIRST_PAUSE_MS);
}
