import type { SetTimes } from '../clocks.js';

/** A clock that only `skip` moves. */
export function skippedClock() {
  let elapsedMs = 0;
  const skip = (ms: number): void => {
    elapsedMs += ms;
  };
  return { nowMs: () => elapsedMs, skip };
}

/** Clocks that a test moves, for all threads of a service. What is not set is real. */
export class TestClock {
  readonly times: SetTimes = new Float64Array(new SharedArrayBuffer(16)).fill(NaN);

  constructor({ wallMs, monotonicMs }: { wallMs?: number; monotonicMs?: number }) {
    if (wallMs !== undefined) this.times[0] = wallMs;
    if (monotonicMs !== undefined) this.monotonicMs = monotonicMs;
  }

  get monotonicMs(): number {
    return this.times[1];
  }

  set monotonicMs(ms: number) {
    this.times[1] = ms;
  }
}

/** For batches in which nothing is held. */
export const NO_TURN = { enter: () => undefined, leave: () => undefined };
