/** Grafana's names of units. */
export type Unit = 'short' | 'percentunit' | 's' | 'bytes' | 'ops' | 'reqps';

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** PromQL and how its series are called. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** One number instead of a graph. */
  readonly isStat?: true;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const RATE = '[$__rate_interval]';
const RESOLVERS = '{instance=~"$instance"}';

const quantile = (q: number, metric: string, by: string): string =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket${RATE})))`;

const shareOfQueries = (which: string): string => {
  const all = `sum(rate(weir_resolver_queries_total${RATE}))`;
  return `sum(rate(weir_resolver_queries_total{${which}}${RATE})) / ${all}`;
};

/** Rows and panels in the order in which a look at the deployment goes. */
export const ROWS: readonly Row[] = [
  {
    title: 'At a glance',
    panels: [
      {
        title: 'Resolvers ready',
        unit: 'short',
        isStat: true,
        queries: [['sum(weir_ready{job="weir-resolver"})', '']],
      },
      {
        title: 'Queries',
        unit: 'reqps',
        isStat: true,
        queries: [[`sum(rate(weir_resolver_queries_total${RATE}))`, '']],
      },
      {
        title: 'Blocked',
        unit: 'percentunit',
        isStat: true,
        queries: [[shareOfQueries('verdict="block"'), '']],
      },
      {
        title: 'SERVFAIL',
        unit: 'percentunit',
        isStat: true,
        queries: [[shareOfQueries('rcode="SERVFAIL"'), '']],
      },
      {
        title: 'Oldest configuration',
        unit: 's',
        isStat: true,
        queries: [['max(weir_resolver_lag_seconds)', '']],
      },
      {
        title: 'Revision',
        unit: 'short',
        isStat: true,
        queries: [['max(weir_config_revision)', '']],
      },
    ],
  },
  {
    title: 'Queries',
    panels: [
      {
        title: 'By verdict',
        unit: 'reqps',
        queries: [
          [
            `sum by (verdict) (rate(weir_resolver_queries_total${RESOLVERS}${RATE}))`,
            '{{verdict}}',
          ],
        ],
      },
      {
        title: 'By answer',
        unit: 'reqps',
        queries: [
          [`sum by (rcode) (rate(weir_resolver_queries_total${RESOLVERS}${RATE}))`, '{{rcode}}'],
        ],
      },
      {
        title: 'By transport',
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
        title: 'Dropped',
        unit: 'ops',
        queries: [
          [`sum by (why) (rate(weir_resolver_dropped_total${RESOLVERS}${RATE}))`, '{{why}}'],
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
        title: 'Turned away',
        unit: 'ops',
        queries: [
          [
            `sum by (instance) (rate(weir_resolver_overloads_total${RESOLVERS}${RATE}))`,
            '{{instance}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Upstreams and cache',
    panels: [
      {
        title: 'Tries',
        unit: 'ops',
        queries: [
          [
            `sum by (upstream, result) (rate(weir_resolver_upstream_results_total${RESOLVERS}${RATE}))`,
            '{{upstream}} {{result}}',
          ],
        ],
      },
      {
        title: 'Time until an answer',
        unit: 's',
        queries: [
          [
            `max by (upstream) (weir_resolver_upstream_latency_seconds${RESOLVERS})`,
            '{{upstream}}',
          ],
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
        ],
      },
      {
        title: 'Cache',
        unit: 'ops',
        queries: [
          [
            `sum by (result) (rate(weir_resolver_cache_lookups_total${RESOLVERS}${RATE}))`,
            '{{result}}',
          ],
        ],
      },
      {
        title: 'Memory of the cache',
        unit: 'bytes',
        queries: [[`sum by (instance) (weir_resolver_cache_bytes${RESOLVERS})`, '{{instance}}']],
      },
    ],
  },
  {
    title: 'Changes',
    panels: [
      {
        title: 'Revision in force',
        unit: 'short',
        queries: [
          ['weir_resolver_revision', '{{instance}}'],
          ['weir_block_page_revision', '{{instance}}'],
        ],
      },
      {
        title: 'Time since it was known to be the newest',
        unit: 's',
        queries: [
          ['weir_resolver_lag_seconds', '{{instance}}'],
          ['weir_block_page_lag_seconds', '{{instance}}'],
        ],
      },
      {
        title: 'From commit to the last resolver',
        unit: 's',
        queries: [
          [quantile(0.5, 'weir_change_acknowledgement_seconds', 'job'), 'p50'],
          [quantile(0.99, 'weir_change_acknowledgement_seconds', 'job'), 'p99'],
        ],
      },
      {
        title: 'Changes',
        unit: 'ops',
        queries: [
          [`sum(rate(weir_change_acknowledgement_seconds_count${RATE}))`, 'answered'],
          [`sum(rate(weir_changes_incomplete_total${RATE}))`, 'incomplete'],
        ],
      },
      {
        title: 'Live followers',
        unit: 'short',
        queries: [['max by (kind) (weir_followers)', '{{kind}}']],
      },
      {
        title: 'Snapshots loaded',
        unit: 'ops',
        queries: [
          [`sum by (cause) (rate(weir_resolver_snapshot_loads_total${RATE}))`, '{{cause}}'],
        ],
      },
      {
        title: 'Digest mismatches and gaps',
        unit: 'ops',
        queries: [
          [`sum(rate(weir_resolver_digest_mismatches_total${RATE}))`, 'mismatches'],
          [`sum(rate(weir_resolver_change_gaps_total${RATE}))`, 'gaps'],
          [`sum(rate(weir_resolver_feed_failures_total${RATE}))`, 'failures'],
        ],
      },
    ],
  },
  {
    title: 'Control plane',
    panels: [
      {
        title: 'Requests',
        unit: 'reqps',
        queries: [[`sum by (status) (rate(weir_management_requests_total${RATE}))`, '{{status}}']],
      },
      {
        title: 'Time to answer, p99',
        unit: 's',
        queries: [
          [quantile(0.99, 'weir_management_request_duration_seconds', 'route'), '{{route}}'],
        ],
      },
      {
        title: 'PostgreSQL and Redis',
        unit: 'short',
        queries: [
          ['weir_database_reachable', 'PostgreSQL from {{instance}}'],
          ['weir_redis_connected', 'Redis from {{instance}}'],
        ],
      },
      {
        title: 'Connections to PostgreSQL',
        unit: 'short',
        queries: [
          ['weir_database_connections', '{{instance}}'],
          ['weir_database_waiting', '{{instance}} waiting'],
        ],
      },
      {
        title: 'Background jobs',
        unit: 'ops',
        queries: [
          [
            `sum by (exported_job, result) (rate(weir_job_runs_total${RATE}))`,
            '{{exported_job}} {{result}}',
          ],
        ],
      },
      {
        title: 'Domains by category',
        unit: 'short',
        queries: [['max by (category) (weir_catalogue_category_domains)', '{{category}}']],
      },
      {
        title: 'Age of lists',
        unit: 's',
        queries: [['max by (source) (weir_catalogue_source_age_seconds)', '{{source}}']],
      },
    ],
  },
  {
    title: 'Block pages',
    panels: [
      {
        title: 'Pages',
        unit: 'reqps',
        queries: [
          [
            `sum by (page, subject) (rate(weir_block_page_pages_total${RATE}))`,
            '{{page}} {{subject}}',
          ],
        ],
      },
      {
        title: 'No page',
        unit: 'ops',
        queries: [[`sum by (why) (rate(weir_block_page_refusals_total${RATE}))`, '{{why}}']],
      },
      {
        title: 'Without content',
        unit: 'short',
        queries: [['max by (page_id) (weir_block_page_content_missing)', 'page {{page_id}}']],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'Processor',
        unit: 'percentunit',
        queries: [
          [`rate(process_cpu_seconds_total{job=~"weir-.+"}${RATE})`, '{{job}} {{instance}}'],
          [`rate(weir_control_plane_process_cpu_seconds_total${RATE})`, '{{job}} {{instance}}'],
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          ['process_resident_memory_bytes{job=~"weir-.+"}', '{{job}} {{instance}}'],
          ['weir_control_plane_process_resident_memory_bytes', '{{job}} {{instance}}'],
        ],
      },
      {
        title: 'Event loop held up, p99',
        unit: 's',
        queries: [
          ['nodejs_eventloop_lag_p99_seconds{job=~"weir-.+"}', '{{job}} {{instance}}'],
          ['weir_control_plane_nodejs_eventloop_lag_p99_seconds', '{{job}} {{instance}}'],
        ],
      },
      { title: 'Ready', unit: 'short', queries: [['weir_ready', '{{job}} {{instance}}']] },
    ],
  },
];
