import { describe, expect, it } from 'vitest';
import {
  ERRORS_BY_RCODE,
  ForwardingCount,
  ForwardingCounts,
  forwardingTotals,
  UpstreamCount,
} from './forwarding-counts.js';

const create = () => new ForwardingCounts(new Float64Array(ForwardingCounts.sizeFor(2)));

const WEIGHED = ['answers', 'probeAnswers', 'latencyMs'] as const;

function set({ upstreams }: ForwardingCounts, values: readonly [number, number, number]): void {
  for (const [i, name] of WEIGHED.entries()) upstreams[0][UpstreamCount[name]] = values[i];
}

describe('forwardingTotals', () => {
  it('adds up what all threads have counted, each count by itself', () => {
    const threads = [create(), create(), create()];
    for (const [i, { own, upstreams }] of threads.entries()) {
      own[ForwardingCount.waiting] = 10 ** i;
      own[ForwardingCount.overloads]++;
      upstreams[1][UpstreamCount.timeouts] = 2 * 10 ** i;
      upstreams[1][ERRORS_BY_RCODE + 5] = 3 * 10 ** i;
      upstreams[0][ERRORS_BY_RCODE + 15]++;
    }
    const { upstreams, ...own } = forwardingTotals(threads);
    const nothing = { overShare: 0, deadZone: 0, coalesced: 0, inFlight: 0 };
    expect(own).toEqual({ ...nothing, overloads: 3, waiting: 111 });
    expect(upstreams.map(({ timeouts, queries }) => [timeouts, queries])).toEqual([
      [0, 0],
      [222, 0],
    ]);
    expect(upstreams.map(({ errorsByRcode }) => errorsByRcode[5])).toEqual([0, 333]);
    expect(upstreams.map(({ errorsByRcode }) => errorsByRcode[15])).toEqual([3, 0]);
    expect(upstreams[1].errorsByRcode).toHaveLength(16);
  });

  it('counts the threads for which an upstream is down', () => {
    const threads = [create(), create(), create()];
    for (const { upstreams } of threads.slice(1)) upstreams[1][UpstreamCount.down] = 1;
    expect(forwardingTotals(threads).upstreams.map(({ down }) => down)).toEqual([0, 2]);
  });

  it('weighs the latency of each thread by its answers to queries and probes', () => {
    const threads = [create(), create(), create()];
    set(threads[0], [90, 0, 10]);
    set(threads[1], [0, 10, 110]);
    const { upstreams } = forwardingTotals(threads);
    expect(upstreams.map(({ latencyMs }) => latencyMs)).toEqual([20, 0]);
  });
});
