import type { SourceDefinition } from '@weir/catalogue';
import type { SourceState } from '../store/source-store.js';

const FIRST_RETRY_DELAY_MS = 30_000;
const MAX_RETRY_DELAY_MS = 3_600_000;

/**
 * Whether a URL is to be requested now. After a failure the delay is 30 s and doubles with each further failure, up to
 * an hour, and never exceeds the refresh interval of the source. A URL without an interval lies beside a definition
 * that is itself a URL: it is requested together with the definition.
 */
export function isDue(
  { format, refreshMs }: SourceDefinition,
  state: SourceState | undefined,
): boolean {
  if (state === undefined) return true;
  const sinceMs = state.secondsSinceAttempt * 1000;
  if (state.failures === 0) return state.format !== format || sinceMs >= (refreshMs ?? 0);
  const retryDelayMs = FIRST_RETRY_DELAY_MS * 2 ** (state.failures - 1);
  return sinceMs >= Math.min(retryDelayMs, MAX_RETRY_DELAY_MS, refreshMs ?? FIRST_RETRY_DELAY_MS);
}
