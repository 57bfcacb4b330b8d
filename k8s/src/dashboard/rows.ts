import {
  graph,
  ofResolvers,
  quantile,
  type Query,
  RATE,
  rates,
  type Row,
  stat,
  together,
} from './panel.js';

const QUERY_COUNT = ofResolvers('queries_total');
/** Processes but the control plane, whose metrics of the process have a prefix. */
const FOLLOWERS = '{job=~"weir-.+"}';
const PROCESS = '{{job}} {{instance}}';

const shareOfQueries = (which: string): string => {
  const all = `sum(rate(weir_resolver_queries_total${RATE}))`;
  // No series is there before the first such query.
  return `(sum(rate(weir_resolver_queries_total{${which}}${RATE})) or vector(0)) / ${all}`;
};

/** A mean: growth of one counter of resolvers for each growth of another. */
const ratio = (counter: string, each: string, by: string): Query => {
  const [[all, legend], [count]] = [counter, each].map((one) => rates(ofResolvers(one), by));
  return [`${all} / ${count}`, legend];
};

const rateByUpstream = (counter: string, labels = ''): string => {
  const series = `weir_resolver_${counter}{instance=~"$instance"${labels}}`;
  return `sum by (upstream) (rate(${series}${RATE}))`;
};
/** Probes are sent in batches, too. */
const SENT_TO_UPSTREAMS =
  rateByUpstream('upstream_queries_total') +
  ` + ${rateByUpstream('upstream_probes_total', ',result="sent"')}`;

/** Rows and panels in the order in which an operator looks at a deployment. */
export const ROWS: readonly Row[] = [
  {
    title: 'At a glance',
    panels: [
      stat('Resolvers ready', 'short', 'sum(weir_ready{job="weir-resolver"})'),
      stat('Queries', 'reqps', `sum(rate(weir_resolver_queries_total${RATE}))`),
      stat('Blocked queries', 'percentunit', shareOfQueries('verdict="block"')),
      stat('SERVFAIL answers', 'percentunit', shareOfQueries('rcode="SERVFAIL"')),
      stat('Largest configuration lag', 's', 'max(weir_resolver_lag_seconds)'),
      stat('Revision', 'short', 'max(weir_config_revision)'),
    ],
  },
  {
    title: 'Queries',
    panels: [
      graph('Queries by verdict', 'reqps', [rates(QUERY_COUNT, 'verdict')]),
      graph('Queries by response code', 'reqps', [rates(QUERY_COUNT, 'rcode')]),
      graph('Queries by transport', 'reqps', [rates(QUERY_COUNT, 'transport')]),
      graph('Time to answer, p99', 's', [
        quantile(0.99, 'weir_resolver_latency_seconds', 'source'),
      ]),
      graph('Dropped packets', 'ops', [rates(ofResolvers('dropped_total'), 'why')]),
      graph('Lanes', 'short', [[ofResolvers('lanes'), '{{instance}}']]),
      graph('Packets dropped by the kernel', 'ops', [
        rates(ofResolvers('udp_kernel_drops_total'), 'instance', ' queries'),
        rates(ofResolvers('upstream_kernel_drops_total'), 'instance', ' answers of upstreams'),
      ]),
      graph('Queries in one batch of a lane', 'short', [
        ratio('lane_batch_queries_sum', 'lane_batch_queries_count', 'instance'),
      ]),
      graph('Processor time of lanes', 'percentunit', [
        rates(ofResolvers('lane_cpu_seconds_total'), 'instance', ' UDP'),
        rates(ofResolvers('stream_lane_cpu_seconds_total'), 'instance', ' TCP, TLS, HTTPS'),
      ]),
      graph('Turns of lanes, p99', 's', [
        quantile(0.99, 'weir_resolver_lane_turn_seconds', 'instance', '{{instance}} turn'),
      ]),
      graph('Naps of lanes', 'ops', [rates(ofResolvers('lane_naps_total'), 'instance')]),
      graph('Waiting for upstreams', 'short', [
        together('sum', ofResolvers('waiting'), 'instance', ' queries'),
        together('sum', ofResolvers('in_flight'), 'instance', ' questions'),
      ]),
      graph('SERVFAIL without asking', 'ops', [
        rates(ofResolvers('overloads_total'), 'instance', ' overload'),
        rates(ofResolvers('over_share_total'), 'instance', ' share of a subscriber'),
        rates(ofResolvers('dead_zone_total'), 'instance', ' dead zone'),
      ]),
    ],
  },
  {
    title: 'Upstreams and cache',
    panels: [
      graph('Results by upstream', 'ops', [
        rates(ofResolvers('upstream_results_total'), 'upstream, result'),
      ]),
      graph('Upstreams down', 'short', [
        together('sum', `1 - ${ofResolvers('upstream_up')}`, 'upstream'),
      ]),
      graph('Upstream latency', 's', [
        together('max', ofResolvers('upstream_latency_seconds'), 'upstream'),
      ]),
      graph('Stray packets', 'ops', [
        rates(ofResolvers('upstream_strays_total'), 'upstream'),
        rates(ofResolvers('upstream_spoofs_total'), 'upstream', ' ports closed'),
        rates(ofResolvers('upstream_suspects_total'), 'upstream', ' asked again over TCP'),
      ]),
      graph('Queries to an upstream in one batch', 'short', [
        [`(${SENT_TO_UPSTREAMS}) / ${rateByUpstream('upstream_batches_total')}`, '{{upstream}}'],
      ]),
      graph('Cache lookups', 'ops', [rates(ofResolvers('cache_lookups_total'), 'result')]),
      graph('Cache memory', 'bytes', [together('sum', ofResolvers('cache_bytes'), 'instance')]),
    ],
  },
  {
    title: 'Changes',
    panels: [
      graph('Revision in force', 'short', [
        ['weir_resolver_revision', '{{instance}}'],
        ['weir_block_page_revision', '{{instance}}'],
      ]),
      graph('Configuration lag', 's', [
        ['weir_resolver_lag_seconds', '{{instance}}'],
        ['weir_block_page_lag_seconds', '{{instance}}'],
      ]),
      graph('Propagation time', 's', [
        quantile(0.5, 'weir_change_acknowledgement_seconds', 'job', 'p50'),
        quantile(0.99, 'weir_change_acknowledgement_seconds', 'job', 'p99'),
      ]),
      graph('Changes answered', 'ops', [
        [`sum(rate(weir_change_acknowledgement_seconds_count${RATE}))`, 'answered'],
        [`sum(rate(weir_changes_incomplete_total${RATE}))`, 'incomplete'],
      ]),
      graph('Live followers', 'short', [together('max', 'weir_followers', 'kind')]),
      graph('Snapshots loaded', 'ops', [rates('weir_resolver_snapshot_loads_total', 'cause')]),
      graph('Digest mismatches, gaps and feed failures', 'ops', [
        [`sum(rate(weir_resolver_digest_mismatches_total${RATE}))`, 'mismatches'],
        [`sum(rate(weir_resolver_change_gaps_total${RATE}))`, 'gaps'],
        [`sum(rate(weir_resolver_feed_failures_total${RATE}))`, 'failures'],
      ]),
    ],
  },
  {
    title: 'Control plane',
    panels: [
      graph('Requests by status', 'reqps', [rates('weir_management_requests_total', 'status')]),
      graph('Time to answer, p99', 's', [
        quantile(0.99, 'weir_management_request_duration_seconds', 'route'),
      ]),
      graph('PostgreSQL and Redis', 'short', [
        ['weir_database_reachable', 'PostgreSQL from {{instance}}'],
        ['weir_redis_connected', 'Redis from {{instance}}'],
      ]),
      graph('Connections to PostgreSQL', 'short', [
        ['weir_database_connections', '{{instance}}'],
        ['weir_database_waiting', '{{instance}} waiting'],
      ]),
      graph('Wait for a connection to PostgreSQL, p99', 's', [
        quantile(0.99, 'weir_database_wait_seconds', 'pool'),
      ]),
      graph('Background jobs', 'ops', [rates('weir_job_runs_total', 'name, result')]),
      graph('Domains by category', 'short', [
        together('max', 'weir_catalogue_category_domains', 'category'),
      ]),
      graph('Age of catalogue lists', 's', [
        together('max', 'weir_catalogue_source_age_seconds', 'source'),
      ]),
    ],
  },
  {
    title: 'Block pages',
    panels: [
      graph('Pages served', 'reqps', [rates('weir_block_page_pages_total', 'page, subject')]),
      graph('Requests without a page', 'ops', [rates('weir_block_page_refusals_total', 'why')]),
      graph('Custom pages without content', 'short', [
        ['max by (page_id) (weir_block_page_content_missing)', 'page {{page_id}}'],
      ]),
    ],
  },
  {
    title: 'Processes',
    panels: [
      graph('CPU', 'percentunit', [
        [`rate(process_cpu_seconds_total${FOLLOWERS}${RATE})`, PROCESS],
        [`rate(weir_control_plane_process_cpu_seconds_total${RATE})`, PROCESS],
      ]),
      graph('Memory', 'bytes', [
        [`process_resident_memory_bytes${FOLLOWERS}`, PROCESS],
        ['weir_control_plane_process_resident_memory_bytes', PROCESS],
      ]),
      graph('Event loop lag, p99', 's', [
        [`nodejs_eventloop_lag_p99_seconds${FOLLOWERS}`, PROCESS],
        ['weir_control_plane_nodejs_eventloop_lag_p99_seconds', PROCESS],
      ]),
      graph('Time in garbage collection', 'percentunit', [
        rates(`nodejs_gc_duration_seconds_sum${FOLLOWERS}`, 'job, instance'),
        rates('weir_control_plane_nodejs_gc_duration_seconds_sum', 'job, instance'),
      ]),
      graph('Pauses for garbage collection, p99', 's', [
        quantile(0.99, 'nodejs_gc_duration_seconds', 'job, instance'),
        quantile(0.99, 'weir_control_plane_nodejs_gc_duration_seconds', 'job, instance'),
      ]),
      graph('Ready', 'short', [['weir_ready', PROCESS]]),
    ],
  },
];
