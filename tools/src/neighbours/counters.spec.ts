import { describe, expect, it } from 'vitest';
import { changes, parseCounters } from './counters.js';

const PAGE = `# TYPE weir_resolver_over_share_total counter
weir_resolver_over_share_total 7
weir_resolver_dropped_total{why="limited"} 3
weir_resolver_queries_total{transport="udp"} 9
weir_resolver_in_flight 4
process_cpu_user_seconds_total 1.5
`;

describe('parseCounters', () => {
  it('reads the counters of the resolver with their labels', () => {
    expect([...parseCounters(PAGE)]).toEqual([
      ['over_share', 7],
      ['dropped{why="limited"}', 3],
      ['queries{transport="udp"}', 9],
    ]);
  });
});

describe('changes', () => {
  it('tells what changed apart from ordinary work', () => {
    const before = new Map([['over_share', 5]]);
    expect(changes(before, parseCounters(PAGE))).toEqual({
      over_share: 2,
      'dropped{why="limited"}': 3,
    });
  });
});
