import type { LatencyHistogram } from './latency-histogram.js';
import { AnswerSource } from '../query/answer-source.js';

/** What is timed. */
export interface Timed {
  /** When it began, in milliseconds of a clock that never goes back; 0 when its time is not taken. */
  startedMs: number;
}

/** Of the answers that wait for nobody the time of one in so many is taken, and stands for all: the clock costs more than a lookup. */
const SAMPLING = 8;

/** Takes the times of queries, by where their answer came from. */
export class QueryTimer {
  /** Where the answer to the query in hand comes from, as far as it is known. */
  source: AnswerSource = AnswerSource.local;
  private untilSample = 1;

  constructor(
    private readonly latencies: LatencyHistogram,
    readonly nowMs: () => number,
  ) {}

  /** A query has come. */
  start(query: Timed): void {
    this.source = AnswerSource.local;
    query.startedMs = 0;
    if (--this.untilSample > 0) return;
    this.untilSample = SAMPLING;
    query.startedMs = this.nowMs();
  }

  /** The query waits for an upstream: its time is taken in any case. */
  startUpstream(query: Timed): void {
    this.source = AnswerSource.upstream;
    if (query.startedMs === 0) query.startedMs = this.nowMs();
  }

  /** The query is answered. */
  finish(query: Timed): void {
    if (query.startedMs === 0) return;
    const weight = this.source === AnswerSource.upstream ? 1 : SAMPLING;
    this.latencies.observe(this.source, this.nowMs() - query.startedMs, weight);
  }
}
