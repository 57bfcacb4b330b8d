import type { SourceDefinition } from '@weir/catalogue';
import { createHash } from 'node:crypto';
import type { SourceState } from '../store/source-store.js';

const FIRST_RETRY_DELAY_MS = 30_000;
const MAX_RETRY_DELAY_MS = 3_600_000;

/**
 * Whether a URL is to be requested now. After a failure the delay is 30 s and doubles with each further failure, up to
 * an hour, and never exceeds the refresh interval of the source. A URL without an interval lies beside a definition
 * that is itself a URL: it is requested together with the definition. A pinned list is not requested again: it cannot
 * change.
 */
export function isDue(
  source: SourceDefinition,
  state: SourceState | undefined,
  neverBlock: readonly string[],
): boolean {
  const { format, refreshMs, sha256 } = source;
  if (state === undefined) return true;
  const sinceMs = state.secondsSinceAttempt * 1000;
  if (state.failures === 0) {
    const wasReadSo = state.format === format && state.readWith === readWith(source, neverBlock);
    return !wasReadSo || (sha256 === null && sinceMs >= (refreshMs ?? 0));
  }
  const retryDelayMs = FIRST_RETRY_DELAY_MS * 2 ** (state.failures - 1);
  return sinceMs >= Math.min(retryDelayMs, MAX_RETRY_DELAY_MS, refreshMs ?? FIRST_RETRY_DELAY_MS);
}

/**
 * What a list is compared with when it is read, as a digest; empty: nothing. A list that was compared with something
 * else is read again, whether it has changed or not.
 */
export function readWith(
  { sha256 }: Pick<SourceDefinition, 'sha256'>,
  neverBlock: readonly string[],
): string {
  if (sha256 === null && neverBlock.length === 0) return '';
  const text = JSON.stringify([sha256, neverBlock.toSorted()]);
  return createHash('sha256').update(text).digest('hex');
}
