import { describe, expect, it } from 'vitest';
import type { Measurement } from './measure.js';
import { renderTable } from './report.js';

const measurement = (cpuUs: number, memoryMiB = 10): Measurement => {
  const phase = {
    perSecond: 50_000,
    cpuUs,
    lost: 1,
    errors: 0,
    p50Ms: 0.25,
    p99Ms: 1.5,
  };
  return { full: phase, steady: { ...phase, cpuUs: cpuUs * 2 }, memoryMiB };
};

const isPeer = (server: string): boolean => server !== 'Weir';

describe('renderTable', () => {
  it('compares the median of a server with the best other server', () => {
    const table = renderTable(
      [
        {
          server: 'Weir',
          rounds: [20, 30, 25].map((cpuUs) => measurement(cpuUs, cpuUs)),
          failures: [],
        },
        {
          server: 'unbound',
          rounds: [10, 10, 11].map((cpuUs) => measurement(cpuUs)),
          failures: [],
        },
        {
          server: 'dnsdist',
          rounds: [12, 12, 12].map((cpuUs) => measurement(cpuUs)),
          failures: [],
        },
      ],
      isPeer,
    );
    const rows = table.split('\n').slice(2);
    expect(rows).toEqual([
      '| Weir | 50.0 | 25.0 | 2.50 | 50.0 | 2.50 | 0.25 | 1.50 | 30 | 6 | 0 |  |',
      '| unbound | 50.0 | 10.0 | 1.00 | 20.0 | 1.00 | 0.25 | 1.50 | 10 | 6 | 0 |  |',
      '| dnsdist | 50.0 | 12.0 | 1.20 | 24.0 | 1.20 | 0.25 | 1.50 | 10 | 6 | 0 |  |',
    ]);
  });

  it('says why a server, or a round of it, was not measured, and compares with the others', () => {
    const table = renderTable(
      [
        { server: 'Weir', rounds: [measurement(20)], failures: ['round 2: it ended'] },
        { server: 'unbound', rounds: [], failures: ['round 1: a | b\nc', 'round 2: late'] },
        { server: 'unbound', rounds: [measurement(10)], failures: [] },
      ],
      isPeer,
    );
    const [weir, bind] = table.split('\n').slice(2);
    expect(weir).toContain('| 20.0 | 2.00 |');
    expect(weir).toMatch(/\| round 2: it ended \|$/);
    expect(bind).toBe(
      '| unbound |  |  |  |  |  |  |  |  |  |  | round 1: a / b c; round 2: late |',
    );
  });

  it('has no ratio without another server', () => {
    const table = renderTable(
      [{ server: 'Weir', rounds: [measurement(20)], failures: [] }],
      isPeer,
    );
    expect(table.split('\n')[2]).toContain('| 20.0 |  | 40.0 |  |');
  });
});
