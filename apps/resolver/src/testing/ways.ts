import { needsThat } from '@weir/ops/testing';
import { laneCount } from '../lanes/lane-count.js';

/** A test of lanes. */
export const NEEDS_LANES = needsThat(laneCount(1) > 0, 'batches of datagrams (libs/udp-batch)');

/** The ways to answer UDP: a title, and `RESOLVER_THREADS`. Lanes only where the system can have them. */
export const WAYS: readonly (readonly [string, number])[] = [
  ...(NEEDS_LANES.skip ? [] : ([['in a lane', 1]] as const)),
  ['in one thread', 0],
];
