import type { ReadMetrics } from '@weir/ops';
import type { Forwarder } from './forwarder.js';
import { registerUpstreamMetrics } from './upstream-metrics.js';

/** Registers the metrics of forwarding, and those of each upstream. */
export function registerForwarderMetrics(metrics: ReadMetrics, forwarder: Forwarder): void {
  registerUpstreamMetrics(metrics, forwarder.upstreams);
  metrics.counter(
    'overloads_total',
    'Queries rejected because too many were in flight',
    () => forwarder.overloads,
  );
  metrics.counter(
    'over_share_total',
    'Queries rejected because their subscriber had its share of upstream queries already',
    () => forwarder.overShare,
  );
  metrics.counter(
    'dead_zone_total',
    'Queries rejected because nothing in their zone is answered',
    () => forwarder.deadZone,
  );
  metrics.counter(
    'coalesced_total',
    'Queries that joined a question already in flight',
    () => forwarder.coalesced,
  );
  metrics.gauge('in_flight', 'Questions that are in flight to upstreams', () => forwarder.inFlight);
  metrics.gauge('waiting', 'Queries that wait for upstreams', () => forwarder.waiting);
}
