import { loadSystemCalls } from '@weir/udp-batch';
import { availableParallelism } from 'node:os';

/**
 * How many lanes there are: as many as wanted, or one for each core but one, which is for the main thread. None where
 * the system has no batches of datagrams.
 * @param onMissing called with the reason when there are none although some are wanted
 */
export function laneCount(
  wanted: number | undefined,
  onMissing?: (reason: string) => void,
): number {
  if (wanted === 0 || loadSystemCalls(onMissing) === null) return 0;
  return wanted ?? Math.max(1, availableParallelism() - 1);
}
