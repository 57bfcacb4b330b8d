import { showUpstream, type UpstreamEndpoint } from '@weir/ops/endpoint';
import type { LabelledValues, ReadMetrics } from '@weir/ops/metrics';
import type {
  ForwardingTotals,
  UpstreamCount,
  UpstreamTotals,
} from '../metrics/forwarding-counts.js';
import { rcodeLabel } from '../metrics/query-counters.js';

type Count = keyof typeof UpstreamCount;

/** Results of attempts at an upstream: value of the label, and name of the counter. */
const RESULTS = {
  answered: 'answers',
  refused: 'errors',
  timed_out: 'timeouts',
  failed: 'failures',
} as const satisfies Record<string, Count>;

const PROBE_RESULTS = {
  sent: 'probes',
  answered: 'probeAnswers',
} as const satisfies Record<string, Count>;

/** Counters with one value for each upstream. */
const COUNTERS: readonly (readonly [name: string, help: string, key: Count])[] = [
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
  ['upstream_tcp_connections_total', 'TCP and TLS connections opened', 'connections'],
];

/** Registers what all threads know about each upstream. @param read what they have counted until now */
export function registerUpstreamMetrics(
  metrics: ReadMetrics,
  endpoints: readonly UpstreamEndpoint[],
  read: () => ForwardingTotals,
): void {
  const upstreams = endpoints.map((endpoint) => ({
    name: showUpstream(endpoint),
    isOverTls: endpoint.tls !== undefined,
  }));
  const eachOf = (value: (totals: UpstreamTotals) => number): LabelledValues => {
    const totals = read().upstreams;
    return upstreams.map(({ name }, i) => [{ upstream: name }, value(totals[i])]);
  };
  const byResult = (keys: Readonly<Record<string, Count>>): LabelledValues => {
    const totals = read().upstreams;
    return Object.entries(keys).flatMap(([result, key]) =>
      upstreams.map(({ name }, i) => [{ upstream: name, result }, totals[i][key]] as const),
    );
  };
  /** Of the upstreams that are asked in batches. */
  const byBatches = (key: Count): LabelledValues => {
    const totals = read().upstreams;
    return upstreams.flatMap(({ name, isOverTls }, i) =>
      isOverTls ? [] : [[{ upstream: name }, totals[i][key]] as const],
    );
  };
  const counters = (name: string, help: string, key: Count): void => {
    metrics.counters(name, help, ['upstream'], () => eachOf((totals) => totals[key]));
  };
  counters('upstream_queries_total', 'Queries sent to an upstream', 'queries');
  metrics.counters(
    'upstream_results_total',
    'Results of attempts at an upstream',
    ['upstream', 'result'],
    () => byResult(RESULTS),
  );
  metrics.counters(
    'upstream_errors_total',
    'Answers of an upstream with an error (result="refused") by RCODE',
    ['upstream', 'rcode'],
    () => errorsByRcode(upstreams, read()),
  );
  metrics.gauges(
    'upstream_latency_seconds',
    'Smoothed time to an answer of an upstream, to a query or a probe; 0 before the first. ' +
      'Each thread smooths its own; this is their mean, weighted by the answers that each has had',
    ['upstream'],
    () => eachOf(({ latencyMs }) => latencyMs / 1000),
  );
  metrics.gauges(
    'upstream_up',
    'Whether an upstream is up: 0 when it has not answered the last probes of some thread',
    ['upstream'],
    () => eachOf(({ down }) => (down === 0 ? 1 : 0)),
  );
  metrics.counters(
    'upstream_probes_total',
    'Queries for the name servers of the root, sent to see whether an upstream is up, and the answers to them',
    ['upstream', 'result'],
    () => byResult(PROBE_RESULTS),
  );
  for (const one of COUNTERS) counters(...one);
  metrics.counters(
    'upstream_batches_total',
    'System calls that sent queries or probes to an upstream; absent where it is asked over TLS',
    ['upstream'],
    () => byBatches('batches'),
  );
  metrics.counters(
    'upstream_kernel_drops_total',
    'Answers of an upstream that the kernel dropped because a receive buffer was full (Linux); ' +
      'counted when the port is closed, after 45 seconds at most',
    ['upstream'],
    () => byBatches('kernelDrops'),
  );
}

/** Those that are not zero. */
function* errorsByRcode(
  upstreams: readonly { readonly name: string }[],
  totals: ForwardingTotals,
): Generator<readonly [Record<string, string>, number]> {
  for (const [i, { name }] of upstreams.entries()) {
    for (const [rcode, count] of totals.upstreams[i].errorsByRcode.entries()) {
      if (count > 0) yield [{ upstream: name, rcode: rcodeLabel(rcode) }, count];
    }
  }
}
