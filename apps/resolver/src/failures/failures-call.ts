import type { OpsCall } from '@weir/ops';
import type { Upstream } from '../upstream/upstream.js';
import type { ZoneFailures } from './zone-failures.js';

export interface FailuresCallOptions {
  readonly upstreams: readonly Upstream[];
  readonly failures: ZoneFailures;
}

/**
 * `GET /upstream/failures`: the zones whose questions failed most in the last minutes, and what came of the queries to
 * each upstream since the start.
 */
export function failuresCall({ upstreams, failures }: FailuresCallOptions): OpsCall {
  const run = (): object => ({
    zones: failures.counts(),
    upstreams: upstreams.map(describeUpstream),
  });
  return { method: 'GET', run };
}

function describeUpstream({ name, health, counters }: Upstream): object {
  const { queries, answers, errors, servFails, refusals, timeouts, failures } = counters;
  return {
    upstream: name,
    up: !health.isDown,
    queries,
    // An error is an answer too.
    answers: answers - errors,
    timeouts,
    servfail: servFails,
    refused: refusals,
    other_errors: errors - servFails - refusals,
    unreachable: failures,
  };
}
