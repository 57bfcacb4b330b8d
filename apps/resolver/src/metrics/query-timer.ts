import type { Exchange } from '../query/exchange.js';
import { Histogram, type HistogramValue } from './histogram.js';

export const AnswerSource = {
  /** Made here: an error, a refusal, a special name, ANY. */
  local: 0,
  blocked: 1,
  cached: 2,
  /** An upstream was asked, whatever the result was. */
  upstream: 3,
} as const;
export type AnswerSource = (typeof AnswerSource)[keyof typeof AnswerSource];

/** Labels in the order of their numbers. */
export const SOURCES = Object.keys(AnswerSource);

const BOUNDS_SECONDS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
].map((ms) => ms / 1000);
const SIZE = Histogram.sizeFor(BOUNDS_SECONDS);

export class LatencyHistogram {
  static readonly size = SOURCES.length * SIZE;

  private readonly bySource: readonly Histogram[];

  /** @param counts where it counts: `size` numbers, which another thread may read */
  constructor(counts: Float64Array = new Float64Array(LatencyHistogram.size)) {
    this.bySource = SOURCES.map(
      (_, i) => new Histogram(BOUNDS_SECONDS, counts.subarray(i * SIZE, (i + 1) * SIZE)),
    );
  }

  /** @param weight number of answers that this one represents */
  observe(source: AnswerSource, tookMs: number, weight: number): void {
    this.bySource[source].observe(tookMs / 1000, weight);
  }

  /** The lines of the histogram `name`, in seconds, with the label `source`. */
  lines(name: string): HistogramValue[] {
    return SOURCES.flatMap((source, i) => this.bySource[i].lines(name, { source }));
  }
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
  start(query: Exchange): void {
    this.source = AnswerSource.local;
    query.startedMs = 0;
    if (--this.untilSample > 0) return;
    this.untilSample = SAMPLING;
    query.startedMs = this.nowMs();
  }

  /** The query waits for an upstream, so it is always timed. */
  startUpstream(query: Exchange): void {
    this.source = AnswerSource.upstream;
    if (query.startedMs === 0) query.startedMs = this.nowMs();
  }

  /** The query is answered. */
  finish(query: Exchange): void {
    if (query.startedMs === 0) return;
    const weight = this.source === AnswerSource.upstream ? 1 : SAMPLING;
    this.latencies.observe(this.source, this.nowMs() - query.startedMs, weight);
  }
}
