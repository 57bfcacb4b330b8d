import type { OpsCall } from '@weir/ops';
import type { FailingZones } from './failing-zones.js';

/**
 * `GET /upstreams/failures`: the domains in which most questions fail lately, as `{"zones":[…]}`, see `FailingZone`.
 * Names are in it only with `QUERY_LOG_NAMES`.
 */
export function failuresCall(zones: FailingZones): OpsCall {
  return { method: 'GET', run: () => ({ zones: zones.list() }) };
}
