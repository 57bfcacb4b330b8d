import { type Row, quantile, RATE } from './panel.js';
import { QUERIES, UPSTREAMS_AND_CACHE } from './queries.js';

const shareOfQueries = (which: string): string => {
  const all = `sum(rate(weir_resolver_queries_total${RATE}))`;
  return `sum(rate(weir_resolver_queries_total{${which}}${RATE})) / ${all}`;
};

const AT_A_GLANCE: Row = {
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
      title: 'Blocked queries',
      unit: 'percentunit',
      isStat: true,
      queries: [[shareOfQueries('verdict="block"'), '']],
    },
    {
      title: 'SERVFAIL answers',
      unit: 'percentunit',
      isStat: true,
      queries: [[shareOfQueries('rcode="SERVFAIL"'), '']],
    },
    {
      title: 'Largest configuration lag',
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
};

const CHANGES: Row = {
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
      title: 'Configuration lag',
      unit: 's',
      queries: [
        ['weir_resolver_lag_seconds', '{{instance}}'],
        ['weir_block_page_lag_seconds', '{{instance}}'],
      ],
    },
    {
      title: 'Propagation time',
      unit: 's',
      queries: [
        [quantile(0.5, 'weir_change_acknowledgement_seconds', 'job'), 'p50'],
        [quantile(0.99, 'weir_change_acknowledgement_seconds', 'job'), 'p99'],
      ],
    },
    {
      title: 'Changes answered',
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
      queries: [[`sum by (cause) (rate(weir_resolver_snapshot_loads_total${RATE}))`, '{{cause}}']],
    },
    {
      title: 'Digest mismatches, gaps and feed failures',
      unit: 'ops',
      queries: [
        [`sum(rate(weir_resolver_digest_mismatches_total${RATE}))`, 'mismatches'],
        [`sum(rate(weir_resolver_change_gaps_total${RATE}))`, 'gaps'],
        [`sum(rate(weir_resolver_feed_failures_total${RATE}))`, 'failures'],
      ],
    },
  ],
};

const CONTROL_PLANE: Row = {
  title: 'Control plane',
  panels: [
    {
      title: 'Requests by status',
      unit: 'reqps',
      queries: [[`sum by (status) (rate(weir_management_requests_total${RATE}))`, '{{status}}']],
    },
    {
      title: 'Time to answer, p99',
      unit: 's',
      queries: [[quantile(0.99, 'weir_management_request_duration_seconds', 'route'), '{{route}}']],
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
      title: 'Wait for a connection to PostgreSQL, p99',
      unit: 's',
      queries: [[quantile(0.99, 'weir_database_wait_seconds', 'pool'), '{{pool}}']],
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
      title: 'Age of catalogue lists',
      unit: 's',
      queries: [['max by (source) (weir_catalogue_source_age_seconds)', '{{source}}']],
    },
  ],
};

const BLOCK_PAGES: Row = {
  title: 'Block pages',
  panels: [
    {
      title: 'Pages served',
      unit: 'reqps',
      queries: [
        [
          `sum by (page, subject) (rate(weir_block_page_pages_total${RATE}))`,
          '{{page}} {{subject}}',
        ],
      ],
    },
    {
      title: 'Requests without a page',
      unit: 'ops',
      queries: [[`sum by (why) (rate(weir_block_page_refusals_total${RATE}))`, '{{why}}']],
    },
    {
      title: 'Custom pages without content',
      unit: 'short',
      queries: [['max by (page_id) (weir_block_page_content_missing)', 'page {{page_id}}']],
    },
  ],
};

const PROCESSES: Row = {
  title: 'Processes',
  panels: [
    {
      title: 'CPU',
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
      title: 'Event loop lag, p99',
      unit: 's',
      queries: [
        ['nodejs_eventloop_lag_p99_seconds{job=~"weir-.+"}', '{{job}} {{instance}}'],
        ['weir_control_plane_nodejs_eventloop_lag_p99_seconds', '{{job}} {{instance}}'],
      ],
    },
    {
      title: 'Time in garbage collection',
      unit: 'percentunit',
      queries: [
        [
          `sum by (job, instance) (rate(nodejs_gc_duration_seconds_sum{job=~"weir-.+"}${RATE}))`,
          '{{job}} {{instance}}',
        ],
        [
          `sum by (job, instance) (rate(weir_control_plane_nodejs_gc_duration_seconds_sum${RATE}))`,
          '{{job}} {{instance}}',
        ],
      ],
    },
    {
      title: 'Pauses for garbage collection, p99',
      unit: 's',
      queries: [
        [quantile(0.99, 'nodejs_gc_duration_seconds', 'job, instance'), '{{job}} {{instance}}'],
        [
          quantile(0.99, 'weir_control_plane_nodejs_gc_duration_seconds', 'job, instance'),
          '{{job}} {{instance}}',
        ],
      ],
    },
    { title: 'Ready', unit: 'short', queries: [['weir_ready', '{{job}} {{instance}}']] },
  ],
};

/** Rows and panels in the order in which an operator looks at a deployment. */
export const ROWS: readonly Row[] = [
  AT_A_GLANCE,
  QUERIES,
  UPSTREAMS_AND_CACHE,
  CHANGES,
  CONTROL_PLANE,
  BLOCK_PAGES,
  PROCESSES,
];
