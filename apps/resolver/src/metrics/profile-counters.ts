import type { Reason, Verdict } from '@weir/policy';
import { REASONS, VERDICTS } from './query-counters.js';

/** Rows before those of the profiles. */
const NO_PROFILE = 0;
const OTHER = 1;
const FIRST = 2;

const ROW_COUNTS = VERDICTS.length * REASONS.length;

export type ProfileLabels = Record<'profile' | 'verdict' | 'reason', string>;

/**
 * Counts answered queries by active profile, verdict and reason. The first profiles that are seen have counts of their
 * own; all others share theirs, so that the number of time series is bounded. A count allocates nothing.
 */
export class ProfileCounters {
  /** Row-major over profiles, verdict, reason. */
  private readonly counts: Float64Array;
  private readonly rows = new Map<number, number>();

  /** @param capacity number of profiles with counts of their own */
  constructor(private readonly capacity: number) {
    this.counts = new Float64Array((FIRST + capacity) * ROW_COUNTS);
  }

  /** @param profileId the active profile; −1: none */
  answered(profileId: number, verdict: Verdict, reason: Reason): void {
    this.counts[this.rowOf(profileId) * ROW_COUNTS + verdict * REASONS.length + reason]++;
  }

  /** Every count that is not zero. */
  *values(): Generator<[ProfileLabels, number]> {
    const profiles = ['none', 'other', ...[...this.rows.keys()].map(String)];
    for (const [row, profile] of profiles.entries()) {
      for (let i = 0; i < ROW_COUNTS; i++) {
        const count = this.counts[row * ROW_COUNTS + i];
        if (count === 0) continue;
        const verdict = VERDICTS[Math.floor(i / REASONS.length)];
        yield [{ profile, verdict, reason: REASONS[i % REASONS.length] }, count];
      }
    }
  }

  private rowOf(profileId: number): number {
    if (profileId < 0) return NO_PROFILE;
    const row = this.rows.get(profileId);
    if (row !== undefined) return row;
    if (this.rows.size >= this.capacity) return OTHER;
    const next = FIRST + this.rows.size;
    this.rows.set(profileId, next);
    return next;
  }
}
