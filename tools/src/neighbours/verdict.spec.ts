import { describe, expect, it } from 'vitest';
import {
  judge,
  type Kind,
  type Latencies,
  limitMs,
  measure,
  type Observation,
  type Sample,
  samplesIn,
} from './verdict.js';

const latencies = (p99Ms: number): Latencies => ({ p50Ms: 0.1, p99Ms, maxMs: 50 });
const measured = (udpMs: number, streamMs = 1, excludedShare = 0) => ({
  udp: latencies(udpMs),
  stream: latencies(streamMs),
  p99MsByKind: {},
  excludedShare,
});
const sample = (kind: Kind, fault: string | null): Sample => ({
  kind,
  sentMs: 0,
  latencyMs: 1,
  fault,
});
const observe = (changes: Partial<Observation> = {}): Observation => ({
  quiet: measured(4),
  attack: measured(7.9),
  samples: [sample('cached', null)],
  kernelDrops: 0,
  waitingShare: 0.001,
  growthMiB: 1,
  ...changes,
});

describe('judge', () => {
  it('accepts a p99 up to twice the quiet one', () => {
    expect(judge(observe())).toEqual({ result: 'ok', reasons: [] });
    const { result, reasons } = judge(observe({ attack: measured(8.1) }));
    expect(result).toBe('failed');
    expect(reasons).toEqual(['UDP: p99 8.1 ms, more than 8.0 ms']);
  });

  it('accepts no more than 512 MiB more memory', () => {
    expect(judge(observe({ growthMiB: 512 })).result).toBe('ok');
    expect(judge(observe({ growthMiB: 600 }))).toEqual({
      result: 'failed',
      reasons: ['the resolver has 600 MiB more memory'],
    });
  });

  it('does not ask for less than the scheduler can give', () => {
    expect(limitMs(measured(0.2), 'udp')).toBe(5);
    expect(limitMs(measured(0.2), 'stream')).toBe(8);
    expect(judge(observe({ quiet: measured(0.2), attack: measured(4.9, 4.9) })).result).toBe('ok');
  });

  it('judges streams apart from UDP', () => {
    expect(judge(observe({ attack: measured(1, 8.1) })).reasons).toEqual([
      'TCP, TLS, HTTPS: p99 8.1 ms, more than 8.0 ms',
    ]);
  });

  it('fails with a query that was not answered, however disturbed the machine was', () => {
    const samples = [sample('fresh', 'no answer'), sample('doh', 'connection closed')];
    expect(judge(observe({ samples, waitingShare: 0.5 }))).toEqual({
      result: 'failed',
      reasons: [
        '1 UDP queries without an answer, 0 dropped by the kernel',
        '1 × doh: connection closed',
      ],
    });
  });

  it('fails with a wrong answer', () => {
    const samples = [sample('fresh', 'rcode 2'), sample('fresh', 'rcode 2')];
    expect(judge(observe({ samples })).reasons).toEqual(['2 × fresh: rcode 2']);
  });

  it('accepts the loss of as many UDP queries as the kernel has dropped, and no other loss', () => {
    const dropped = [sample('cached', 'no answer')];
    expect(judge(observe({ samples: dropped, kernelDrops: 1 })).result).toBe('ok');
    const closed = [sample('tcp', 'no answer')];
    expect(judge(observe({ samples: closed, kernelDrops: 1 })).result).toBe('failed');
  });

  it('does not blame the resolver for being slow when other processes were in the way', () => {
    const crowded = observe({ attack: measured(90), waitingShare: 0.1 });
    expect(judge(crowded)).toMatchObject({ result: 'disturbed' });
    const late = observe({ attack: measured(90, 1, 0.2) });
    expect(judge(late)).toMatchObject({ result: 'disturbed' });
  });
});

const sent = (sentMs: number, latencyMs: number, kind: Kind = 'cached'): Sample => ({
  kind,
  sentMs,
  latencyMs,
  fault: null,
});

describe('samplesIn', () => {
  it('takes the queries that were sent in the window', () => {
    const samples = [sent(9, 5), sent(10, 90), sent(19, 1), sent(20, 1)];
    expect(samplesIn(samples, { fromMs: 10, toMs: 20 })).toEqual(samples.slice(1, 3));
  });
});

describe('measure', () => {
  it('keeps UDP and streams apart', () => {
    const samples = [sent(0, 1), sent(0, 3, 'fresh'), sent(0, 8, 'dot'), sent(0, 9, 'tls')];
    const { udp, stream } = measure(samples, []);
    expect(udp).toMatchObject({ maxMs: 3 });
    expect(stream).toMatchObject({ maxMs: 9 });
  });

  it('leaves out queries during which the neighbour itself did not run', () => {
    const samples = [sent(0, 1), sent(4, 20), sent(12, 1), sent(30, 1)];
    const { udp, excludedShare } = measure(samples, [{ fromMs: 10, toMs: 15 }]);
    expect(udp).toMatchObject({ maxMs: 1 });
    expect(excludedShare).toBe(0.5);
  });
});
