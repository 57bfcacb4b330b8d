import { AnswerSource } from '../query/answer-source.js';
import type { LatencyHistogram } from './histogram.js';

/** What is timed. */
export interface Timed {
  /** Start time on the monotonic clock, in milliseconds. 0 when it is not timed. */
  startedMs: number;
  /** When it arrived; 0: now. */
  readonly arrivedMs: number;
}

/**
 * Of the answers that need no upstream, one in this many is timed and counts for all of them: reading the clock costs
 * more than a cache lookup.
 */
const SAMPLING = 8;

/** Measures how long queries take, by source of the answer. */
export class QueryTimer {
  /** The source of the answer to the current query, as far as it is known. */
  source: AnswerSource = AnswerSource.local;
  private untilSample = 1;

  constructor(
    private readonly latencies: LatencyHistogram,
    readonly nowMs: () => number,
  ) {}

  /** A query has arrived. */
  start(query: Timed): void {
    this.source = AnswerSource.local;
    query.startedMs = 0;
    if (--this.untilSample > 0) return;
    this.untilSample = SAMPLING;
    query.startedMs = this.arrivalOf(query);
  }

  /** The query waits for an upstream, so it is always timed. */
  startUpstream(query: Timed): void {
    this.source = AnswerSource.upstream;
    if (query.startedMs === 0) query.startedMs = this.arrivalOf(query);
  }

  /** The query is answered. */
  finish(query: Timed): void {
    if (query.startedMs === 0) return;
    const weight = this.source === AnswerSource.upstream ? 1 : SAMPLING;
    this.latencies.observe(this.source, this.nowMs() - query.startedMs, weight);
  }

  private arrivalOf({ arrivedMs }: Timed): number {
    return arrivedMs === 0 ? this.nowMs() : arrivedMs;
  }
}
