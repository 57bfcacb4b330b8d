import { loadSystemCalls } from '@weir/udp-batch';

/**
 * How many lanes there are: as many as wanted; none where the system has no batches of datagrams.
 * @param onMissing called with the reason when there are none although some are wanted
 */
export function laneCount(wanted: number, onMissing?: (reason: string) => void): number {
  if (wanted === 0) return 0;
  return loadSystemCalls(onMissing) === null ? 0 : wanted;
}
