import { laneCount } from '../lanes/lane-count.js';

/** The ways to answer UDP: a title, and `RESOLVER_THREADS`. Lanes only where the system can have them. */
export const WAYS: readonly (readonly [string, number])[] = [
  ...(laneCount(1) === 0 ? [] : ([['in a lane', 1]] as const)),
  ['in one thread', 0],
];
