import { LIMIT_COUNTS, LimitCount } from '../limits/rate-limits.js';
import { ForwardingCounts, forwardingTotals, type ForwardingTotals } from './forwarding-counts.js';
import { LogCount, LogCounts } from './log-counts.js';
import { LatencyHistogram } from './query-timer.js';
import { ProfileCounters, type ProfileRows } from './profile-counters.js';
import { QueryCounters } from './query-counters.js';
import { named, sumOf } from './sums.js';

/** What a thread that answers queries counts. The thread that reports metrics reads it. */
export interface ThreadCounts {
  readonly queries: Float64Array;
  readonly latencies: Float64Array;
  readonly limits: Float64Array;
  /** Empty: queries are not counted by profile. */
  readonly profiles: Float64Array;
  /** By `ForwardingCount`. */
  readonly forwarding: Float64Array;
  readonly logs: Float64Array;
  /** One number, see `UnreadBytes`. */
  readonly unreadBytes: Float64Array;
}

/** @param profiles number of profiles with counts of their own */
export function createThreadCounts(profiles: number, upstreams: number): ThreadCounts {
  return {
    queries: sharedNumbers(QueryCounters.size),
    latencies: sharedNumbers(LatencyHistogram.size),
    limits: sharedNumbers(LIMIT_COUNTS),
    profiles: sharedNumbers(profiles === 0 ? 0 : ProfileCounters.sizeFor(profiles)),
    forwarding: sharedNumbers(ForwardingCounts.sizeFor(upstreams)),
    logs: sharedNumbers(LogCounts.size),
    unreadBytes: sharedNumbers(1),
  };
}

/** Where the path of a thread counts its queries. */
interface ThreadCounters {
  readonly counters: QueryCounters;
  readonly profileCounters: ProfileCounters | null;
  readonly latencies: LatencyHistogram;
}

/** @param rows null: queries are not counted by profile */
export function countersInto(counts: ThreadCounts, rows: ProfileRows | null): ThreadCounters {
  return {
    counters: new QueryCounters(counts.queries),
    profileCounters: rows && new ProfileCounters(rows, counts.profiles),
    latencies: new LatencyHistogram(counts.latencies),
  };
}

/** What all threads have counted together, as far as their counts can be read now. */
export class CountsOfAll {
  /** @param threads those that there are. @param rows null: queries are not counted by profile */
  constructor(
    private readonly threads: () => readonly ThreadCounts[],
    private readonly rows: ProfileRows | null,
  ) {}

  get queries(): QueryCounters {
    return new QueryCounters(this.sum('queries'));
  }

  get latencies(): LatencyHistogram {
    return new LatencyHistogram(this.sum('latencies'));
  }

  get limits(): Record<keyof typeof LimitCount, number> {
    return named(LimitCount, this.sum('limits'));
  }

  get profiles(): ProfileCounters | null {
    return this.rows && new ProfileCounters(this.rows, this.sum('profiles'));
  }

  get forwarding(): ForwardingTotals {
    return forwardingTotals(this.threads().map((one) => new ForwardingCounts(one.forwarding)));
  }

  get logs(): Record<keyof typeof LogCount, number> {
    return named(LogCount, this.sum('logs'));
  }

  /** Bytes of answers that clients have not read, and of HTTP requests that are not over, over all connections. */
  get unreadBytes(): number {
    return this.sum('unreadBytes')[0];
  }

  private sum(kind: keyof ThreadCounts): Float64Array {
    return sumOf(this.threads().map((counts) => counts[kind]));
  }
}

/** Numbers that one thread writes and others read. */
export function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}
