import { describe, expect, it } from 'vitest';
import { type Kind, measure, type Sample, samplesIn } from './sample.js';

const sample = (sentMs: number, latencyMs: number, kind: Kind = 'cached'): Sample => ({
  kind,
  sentMs,
  latencyMs,
  fault: null,
});

describe('samplesIn', () => {
  it('takes the queries that were sent in the window', () => {
    const samples = [sample(9, 5), sample(10, 90), sample(19, 1), sample(20, 1)];
    expect(samplesIn(samples, { fromMs: 10, toMs: 20 })).toEqual(samples.slice(1, 3));
  });
});

describe('measure', () => {
  it('keeps UDP and streams apart', () => {
    const samples = [sample(0, 1), sample(0, 3, 'fresh'), sample(0, 8, 'dot'), sample(0, 9, 'tls')];
    const { udp, stream } = measure(samples, []);
    expect(udp).toMatchObject({ maxMs: 3 });
    expect(stream).toMatchObject({ maxMs: 9 });
  });

  it('leaves out queries during which the neighbour itself did not run', () => {
    const samples = [sample(0, 1), sample(4, 20), sample(12, 1), sample(30, 1)];
    const { udp, excludedShare } = measure(samples, [{ fromMs: 10, toMs: 15 }]);
    expect(udp).toMatchObject({ maxMs: 1 });
    expect(excludedShare).toBe(0.5);
  });
});
