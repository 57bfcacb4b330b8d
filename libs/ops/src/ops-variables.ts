import { address, integer, optional, port, secretList } from './variables/index.js';

const LONGEST_DRAIN_S = 600;
const SHORTEST_TOKEN = 16;

/** Variables of every process: a part of its schema. */
export const OPS_VARIABLES = {
  OPS_HOST: address({
    description:
      'Address on which health and metrics are served. They need no token, so the public must not reach this address.',
    default: '127.0.0.1',
  }),
  OPS_PORT: port({
    description: 'Port on which health and metrics are served (/livez, /readyz, /metrics).',
    default: '9090',
  }),
  DRAIN_S: integer(0, LONGEST_DRAIN_S, {
    description:
      'Seconds between SIGTERM, SIGINT or SIGHUP and the stop. The process is not ready then and still answers, so ' +
      'that load balancers can take it out of service. The stop itself takes up to 10 seconds more.',
    default: '0',
  }),
} as const;

/** Variables of a process that has `OpsCalls`: a part of its schema. */
export const OPS_CALL_VARIABLES = {
  OPS_TOKENS: optional(
    secretList(SHORTEST_TOKEN, {
      description:
        'Bearer tokens of the calls on the ops port that need one, such as the flush of the cache. To change the ' +
        'token, list the new and the old one, change the callers, then remove the old one. Unset: these calls are ' +
        'off.',
    }),
  ),
} as const;
