import type { Reason, Verdict } from '@weir/policy';
import { REASONS, VERDICTS } from './query-counters.js';

/** Rows before those of the profiles. */
const NO_PROFILE = 0;
const OTHER = 1;
const FIRST = 2;

const ROW_COUNTS = VERDICTS.length * REASONS.length;

/** A profile without a number yet. */
const UNKNOWN = -1;

export type ProfileLabels = Record<'profile' | 'verdict' | 'reason', string>;

/** The rows of the profiles, which all threads share: how many there are, then their ids. */
export class ProfileRows {
  private readonly taken: Int32Array;
  private readonly ids: Int32Array;

  constructor(
    readonly capacity: number,
    readonly memory: SharedArrayBuffer = new SharedArrayBuffer(4 * (1 + capacity)),
  ) {
    this.taken = new Int32Array(memory, 0, 1);
    this.ids = new Int32Array(memory, 4);
  }

  /** A row for a profile that has none. Two threads at once may take one each. Negative: all are taken. */
  take(profileId: number): number {
    if (Atomics.load(this.taken, 0) >= this.capacity) return UNKNOWN;
    const row = Atomics.add(this.taken, 0, 1);
    if (row >= this.capacity) return UNKNOWN;
    // Never 0, which is no number yet.
    Atomics.store(this.ids, row, ~profileId);
    return row;
  }

  get count(): number {
    return Math.min(Atomics.load(this.taken, 0), this.capacity);
  }

  /** `UNKNOWN` while another thread takes that row. */
  idOf(row: number): number {
    return ~Atomics.load(this.ids, row);
  }
}

/**
 * Counts answered queries by active profile, verdict and reason. The first profiles that are seen have counts of their
 * own; all others share theirs, so that the number of time series is bounded. A count allocates nothing.
 */
export class ProfileCounters {
  /** Row-major over profiles, verdict, reason. */
  private readonly counts: Float64Array;
  private readonly known = new Map<number, number>();
  /** Rows that this thread has looked at. */
  private seen = 0;

  /** @param counts where it counts: `size` numbers, which another thread may read */
  constructor(
    private readonly rows: ProfileRows,
    counts?: Float64Array,
  ) {
    this.counts = counts ?? new Float64Array(ProfileCounters.sizeFor(rows.capacity));
  }

  static sizeFor(capacity: number): number {
    return (FIRST + capacity) * ROW_COUNTS;
  }

  /** @param profileId the active profile; −1: none */
  answered(profileId: number, verdict: Verdict, reason: Reason): void {
    this.counts[this.rowOf(profileId) * ROW_COUNTS + verdict * REASONS.length + reason]++;
  }

  /** Every count that is not zero. A profile may come twice. */
  *values(): Generator<[ProfileLabels, number]> {
    const ids = Array.from({ length: this.rows.count }, (_, row) => String(this.rows.idOf(row)));
    for (const [row, profile] of ['none', 'other', ...ids].entries()) {
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
    return this.known.get(profileId) ?? this.newRowOf(profileId);
  }

  private newRowOf(profileId: number): number {
    this.lookAtRows();
    const known = this.known.get(profileId);
    if (known !== undefined) return known;
    const row = this.rows.take(profileId);
    if (row < 0) return OTHER;
    this.known.set(profileId, FIRST + row);
    return FIRST + row;
  }

  /** Those that other threads have taken. */
  private lookAtRows(): void {
    const { count } = this.rows;
    for (; this.seen < count; this.seen++) {
      const id = this.rows.idOf(this.seen);
      if (id === UNKNOWN) return;
      if (!this.known.has(id)) this.known.set(id, FIRST + this.seen);
    }
  }
}
