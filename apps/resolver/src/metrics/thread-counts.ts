import { LimitCounts } from '../limits/client-limits.js';
import { ForwardingCounts, forwardingTotals, type ForwardingTotals } from './forwarding-counts.js';
import { LogCounts } from './log-counts.js';
import { LatencyHistogram } from './query-timer.js';
import { ProfileCounters, type ProfileRows } from './profile-counters.js';
import { QueryCounters } from './query-counters.js';

/** What a thread that answers queries counts. The thread that reports metrics reads it. */
export interface ThreadCounts {
  readonly queries: Float64Array;
  readonly latencies: Float64Array;
  readonly limits: Float64Array;
  /** Empty: queries are not counted by profile. */
  readonly profiles: Float64Array;
  /** Of `ForwardingCounts`. */
  readonly forwarding: Float64Array;
  readonly logs: Float64Array;
}

/** @param profiles number of profiles with counts of their own */
export function createThreadCounts(profiles: number, upstreams: number): ThreadCounts {
  return {
    queries: sharedNumbers(QueryCounters.size),
    latencies: sharedNumbers(LatencyHistogram.size),
    limits: sharedNumbers(LimitCounts.size),
    profiles: sharedNumbers(profiles === 0 ? 0 : ProfileCounters.sizeFor(profiles)),
    forwarding: sharedNumbers(ForwardingCounts.sizeFor(upstreams)),
    logs: sharedNumbers(LogCounts.size),
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

  get limits(): LimitCounts {
    return new LimitCounts(this.sum('limits'));
  }

  get profiles(): ProfileCounters | null {
    return this.rows && new ProfileCounters(this.rows, this.sum('profiles'));
  }

  get forwarding(): ForwardingTotals {
    return forwardingTotals(this.threads().map((one) => new ForwardingCounts(one.forwarding)));
  }

  get logs(): LogCounts {
    return new LogCounts(this.sum('logs'));
  }

  private sum(kind: keyof ThreadCounts): Float64Array {
    const all = this.threads().map((counts) => counts[kind]);
    const sum = new Float64Array(all[0].length);
    for (const one of all) for (let i = 0; i < sum.length; i++) sum[i] += one[i];
    return sum;
  }
}

/** Numbers that one thread writes and others read. */
export function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}
