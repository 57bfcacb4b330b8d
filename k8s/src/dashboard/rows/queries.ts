import type { Row } from './panel.js';
import { quantile, RATE, RESOLVERS } from './promql.js';

export const QUERIES: Row = {
  title: 'Queries',
  panels: [
    {
      title: 'Queries by verdict',
      unit: 'reqps',
      queries: [
        [`sum by (verdict) (rate(weir_resolver_queries_total${RESOLVERS}${RATE}))`, '{{verdict}}'],
      ],
    },
    {
      title: 'Queries by response code',
      unit: 'reqps',
      queries: [
        [`sum by (rcode) (rate(weir_resolver_queries_total${RESOLVERS}${RATE}))`, '{{rcode}}'],
      ],
    },
    {
      title: 'Queries by transport',
      unit: 'reqps',
      queries: [
        [
          `sum by (transport) (rate(weir_resolver_queries_total${RESOLVERS}${RATE}))`,
          '{{transport}}',
        ],
      ],
    },
    {
      title: 'Time to answer, p99',
      unit: 's',
      queries: [[quantile(0.99, 'weir_resolver_latency_seconds', 'source'), '{{source}}']],
    },
    {
      title: 'Dropped packets',
      unit: 'ops',
      queries: [[`sum by (why) (rate(weir_resolver_dropped_total${RESOLVERS}${RATE}))`, '{{why}}']],
    },
    {
      title: 'Lanes',
      unit: 'short',
      queries: [[`weir_resolver_lanes${RESOLVERS}`, '{{instance}}']],
    },
    {
      title: 'Packets dropped by the kernel',
      unit: 'ops',
      queries: [
        [
          `sum by (instance) (rate(weir_resolver_udp_kernel_drops_total${RESOLVERS}${RATE}))`,
          '{{instance}} queries',
        ],
        [
          `sum by (instance) (rate(weir_resolver_upstream_kernel_drops_total${RESOLVERS}${RATE}))`,
          '{{instance}} answers of upstreams',
        ],
      ],
    },
    {
      title: 'Queries in one batch of a lane',
      unit: 'short',
      queries: [
        [
          `sum by (instance) (rate(weir_resolver_lane_batch_queries_sum${RESOLVERS}${RATE}))` +
            ` / sum by (instance) (rate(weir_resolver_lane_batch_queries_count${RESOLVERS}${RATE}))`,
          '{{instance}}',
        ],
      ],
    },
    {
      title: 'Processor time of lanes',
      unit: 'percentunit',
      queries: [
        [
          `sum by (instance) (rate(weir_resolver_lane_cpu_seconds${RESOLVERS}${RATE}))`,
          '{{instance}}',
        ],
      ],
    },
    {
      title: 'Turns of lanes, p99',
      unit: 's',
      queries: [
        [quantile(0.99, 'weir_resolver_lane_turn_seconds', 'instance'), '{{instance}} turn'],
      ],
    },
    {
      title: 'Naps of lanes',
      unit: 'ops',
      queries: [
        [
          `sum by (instance) (rate(weir_resolver_lane_naps_total${RESOLVERS}${RATE}))`,
          '{{instance}}',
        ],
      ],
    },
    {
      title: 'Waiting for upstreams',
      unit: 'short',
      queries: [
        [`sum by (instance) (weir_resolver_waiting${RESOLVERS})`, '{{instance}} queries'],
        [`sum by (instance) (weir_resolver_in_flight${RESOLVERS})`, '{{instance}} questions'],
      ],
    },
    {
      title: 'SERVFAIL without asking',
      unit: 'ops',
      queries: [
        [
          `sum by (instance) (rate(weir_resolver_overloads_total${RESOLVERS}${RATE}))`,
          '{{instance}} overload',
        ],
        [
          `sum by (instance) (rate(weir_resolver_over_share_total${RESOLVERS}${RATE}))`,
          '{{instance}} share of a subscriber',
        ],
        [
          `sum by (instance) (rate(weir_resolver_dead_zone_total${RESOLVERS}${RATE}))`,
          '{{instance}} dead zone',
        ],
      ],
    },
  ],
};
