import type { Row } from './panel.js';
import { RATE, RESOLVERS } from './promql.js';

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
