import { describe, expect, it } from 'vitest';
import { renderScale } from './report.js';
import type { Measurement } from '../dns/measure.js';

const SIZE = { networks: 10, networks6: 10, napt: 10, profiles: 10, rules: 100, domains: 50 };
const round = (cpuUs: number): Measurement => {
  const full = { cpuUs, lost: 1, errors: 0, perSecond: 50_000, p50Ms: 0.1, p99Ms: 2 };
  return { full, steady: { ...full, cpuUs: cpuUs * 2 }, memoryMiB: 100 };
};

describe('renderScale', () => {
  const text = renderScale({
    empty: [round(10), round(11), round(30)],
    full: [round(12), round(13.2), round(14)],
    policy: {
      size: SIZE,
      decide: { 'nothing matches': { decideNs: 400, hashNs: 150 } },
      decideOrdered: { 'nothing matches': { decideNs: 410, hashNs: 151 } },
      memory: {
        domainRules: 1_250,
        ipv4Networks: 120,
        ipv6Networks: 220,
        naptRanges: 150,
        profiles: 1_500,
        orderTables: 240,
        orders: 1_200,
      },
      orders: 20,
      catalogueBytes: 600,
      changeUs: { p50: 1.94, p99: 3.2 },
    },
    feedMs: 21_000,
    diskMs: [6_000, 7_000, 8_000],
    smallDiskMs: [1_600],
    changeMs: [1, 2, 3],
  });

  it('compares medians of the full size with those of an empty configuration', () => {
    expect(text).toContain(
      '| empty | 50.0 | 11.0 | 1.00 | 22.0 | 1.00 | 0.10 | 2.00 | 100 | 6 | 0 |',
    );
    expect(text).toContain('| full size | 50.0 | 13.2 | 1.20 | 26.4 | 1.20 |');
  });

  it('has a row for each outcome, kind of entry, start and change', () => {
    expect(text).toContain('| nothing matches | 550 | 150 | 600 | 561 |');
    expect(text).toContain('| domain rules | 100 | 12.5 | 16 |');
    expect(text).toContain('| orders, in the table | 20 | 12.0 | 12 |');
    expect(text).toContain('| orders, with their texts | 20 | 60.0 |  |');
    expect(text).toContain('| category domains | 50 | 12.0 | 12 |');
    expect(text).toContain('| process ready, full size, from disk | 7.0 s |  |');
    expect(text).toContain('| one domain rule, applied, p50 | 1.9 µs | 50 µs |');
    expect(text).toContain('| … p99 | 3.00 ms |  |');
  });
});
