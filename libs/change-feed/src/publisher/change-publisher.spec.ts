import { describe, expect, it } from 'vitest';
import { RecentTraces } from './change-publisher.js';

const digest = '0123456789abcdef';
const change = (revision: number) => ({ lineage: 'log', revision, digest, operations: [] });

describe('RecentTraces', () => {
  it('knows the trace of a change by its revision and digest', () => {
    const traces = new RecentTraces();
    traces.add({ ...change(1), traceparent: 'trace' });
    traces.add(change(2));
    expect(traces.of({ revision: 1, digest })).toEqual({ traceparent: 'trace' });
    expect(traces.of({ revision: 1, digest: 'fedcba9876543210' })).toEqual({});
    expect(traces.of({ revision: 2, digest })).toEqual({});
  });

  it('forgets all but the last thousand', () => {
    const traces = new RecentTraces();
    for (let n = 1; n <= 1_001; n++) traces.add({ ...change(n), traceparent: String(n) });
    expect(traces.of({ revision: 1, digest })).toEqual({});
    expect(traces.of({ revision: 2, digest })).toEqual({ traceparent: '2' });
  });
});
