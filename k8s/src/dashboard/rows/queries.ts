import { type Row, quantile, RATE, RESOLVERS } from './panel.js';

export const UPSTREAMS_AND_CACHE: Row = {
  title: 'Upstreams and cache',
  panels: [
    {
      title: 'Results by upstream',
      unit: 'ops',
      queries: [
        [
          `sum by (upstream, result) (rate(weir_resolver_upstream_results_total${RESOLVERS}${RATE}))`,
          '{{upstream}} {{result}}',
        ],
      ],
    },
    {
      title: 'Upstreams down',
      unit: 'short',
      queries: [[`sum by (upstream) (1 - weir_resolver_upstream_up${RESOLVERS})`, '{{upstream}}']],
    },
    {
      title: 'Upstream latency',
      unit: 's',
      queries: [
        [`max by (upstream) (weir_resolver_upstream_latency_seconds${RESOLVERS})`, '{{upstream}}'],
      ],
    },
    {
      title: 'Stray packets',
      unit: 'ops',
      queries: [
        [
          `sum by (upstream) (rate(weir_resolver_upstream_strays_total${RESOLVERS}${RATE}))`,
          '{{upstream}}',
        ],
        [
          `sum by (upstream) (rate(weir_resolver_upstream_spoofs_total${RESOLVERS}${RATE}))`,
          '{{upstream}} ports closed',
        ],
        [
          `sum by (upstream) (rate(weir_resolver_upstream_suspects_total${RESOLVERS}${RATE}))`,
          '{{upstream}} asked again over TCP',
        ],
      ],
    },
    {
      title: 'Queries to an upstream in one batch',
      unit: 'short',
      queries: [
        [
          `sum by (upstream) (rate(weir_resolver_upstream_queries_total${RESOLVERS}${RATE}))` +
            ` / sum by (upstream) (rate(weir_resolver_upstream_batches_total${RESOLVERS}${RATE}))`,
          '{{upstream}}',
        ],
      ],
    },
    {
      title: 'Cache lookups',
      unit: 'ops',
      queries: [
        [
          `sum by (result) (rate(weir_resolver_cache_lookups_total${RESOLVERS}${RATE}))`,
          '{{result}}',
        ],
      ],
    },
    {
      title: 'Cache memory',
      unit: 'bytes',
      queries: [[`sum by (instance) (weir_resolver_cache_bytes${RESOLVERS})`, '{{instance}}']],
    },
  ],
};

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
