import type { LabelledValues, ReadMetrics } from '@weir/ops/metrics';
import { rcodeLabel } from '../metrics/query-counters.js';
import type { Upstream, UpstreamCounters } from './upstream.js';

/** Results of attempts at an upstream: value of the label, and name of the counter. */
const RESULTS = {
  answered: 'answers',
  refused: 'errors',
  timed_out: 'timeouts',
  failed: 'failures',
} as const satisfies Record<string, keyof UpstreamCounters>;

const PROBE_RESULTS = {
  sent: 'probes',
  answered: 'probeAnswers',
} as const satisfies Record<string, keyof UpstreamCounters>;

/** Counters with one value for each upstream. */
const COUNTERS: readonly (readonly [name: string, help: string, key: keyof UpstreamCounters])[] = [
  ['upstream_tcp_total', 'Queries repeated over TCP', 'overTcp'],
  [
    'upstream_strays_total',
    'Packets from an upstream that answer no query which was sent: forged or malformed',
    'strays',
  ],
  ['upstream_late_total', 'Answers of an upstream to queries that were over', 'late'],
  [
    'upstream_suspects_total',
    'Answers that may be forged (cookie or case of letters is wrong); their questions were asked again over TCP',
    'suspects',
  ],
  [
    'upstream_spoofs_total',
    'Ports closed because packets with wrong ids came to them; their questions were asked again over TCP',
    'spoofs',
  ],
  [
    'upstream_tls_errors_total',
    'Connections to an upstream on which TLS failed: its certificate was not accepted, or it speaks no TLS',
    'tlsErrors',
  ],
];

/** Registers what is known about each upstream. */
export function registerUpstreamMetrics(
  metrics: ReadMetrics,
  upstreams: readonly Upstream[],
): void {
  const counters = (name: string, help: string, read: (upstream: Upstream) => number): void => {
    metrics.counters(name, help, ['upstream'], () => eachOf(upstreams, read));
  };
  counters('upstream_queries_total', 'Queries sent to an upstream', (one) => one.counters.queries);
  metrics.counters(
    'upstream_results_total',
    'Results of attempts at an upstream',
    ['upstream', 'result'],
    () => byResult(upstreams, RESULTS),
  );
  metrics.counters(
    'upstream_errors_total',
    'Answers of an upstream with an error (result="refused") by RCODE',
    ['upstream', 'rcode'],
    () => errorsByRcode(upstreams),
  );
  metrics.gauges(
    'upstream_latency_seconds',
    'Smoothed time to an answer of an upstream, to a query or a probe; 0 before the first',
    ['upstream'],
    () => eachOf(upstreams, ({ latencyMs }) => latencyMs / 1000),
  );
  metrics.gauges(
    'upstream_up',
    'Whether an upstream is up: 0 when it has not answered the last probes',
    ['upstream'],
    () => eachOf(upstreams, ({ health }) => (health.isDown ? 0 : 1)),
  );
  metrics.counters(
    'upstream_probes_total',
    'Queries for the name servers of the root, sent to see whether an upstream is up, and the answers to them',
    ['upstream', 'result'],
    () => byResult(upstreams, PROBE_RESULTS),
  );
  for (const [name, help, key] of COUNTERS) counters(name, help, (one) => one.counters[key]);
  counters('upstream_tcp_connections_total', 'TCP and TLS connections opened', (one) => {
    return one.connections;
  });
  metrics.counters(
    'upstream_batches_total',
    'System calls that sent queries to an upstream; absent where it is asked over TLS',
    ['upstream'],
    () => byBatches(upstreams, 'sent'),
  );
  metrics.counters(
    'upstream_kernel_drops_total',
    'Answers of an upstream that the kernel dropped because a receive buffer was full (Linux)',
    ['upstream'],
    () => byBatches(upstreams, 'kernelDrops'),
  );
}

function eachOf(
  upstreams: readonly Upstream[],
  read: (upstream: Upstream) => number,
): LabelledValues {
  return upstreams.map((one) => [{ upstream: one.name }, read(one)]);
}

function byResult(
  upstreams: readonly Upstream[],
  keys: Readonly<Record<string, keyof UpstreamCounters>>,
): LabelledValues {
  return Object.entries(keys).flatMap(([result, key]) =>
    upstreams.map(({ name, counters }) => [{ upstream: name, result }, counters[key]] as const),
  );
}

/** Of the upstreams that are asked in batches. */
function byBatches(upstreams: readonly Upstream[], key: 'sent' | 'kernelDrops'): LabelledValues {
  return upstreams.flatMap(({ name, batches }) =>
    batches === null ? [] : [[{ upstream: name }, batches[key]] as const],
  );
}

/** Those that are not zero. */
function* errorsByRcode(
  upstreams: readonly Upstream[],
): Generator<readonly [Record<string, string>, number]> {
  for (const { name, errorsByRcode } of upstreams) {
    for (const [rcode, count] of errorsByRcode.entries()) {
      if (count > 0) yield [{ upstream: name, rcode: rcodeLabel(rcode) }, count];
    }
  }
}
