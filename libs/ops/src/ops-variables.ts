import { address, integer, port } from './variable-kinds.js';

const LONGEST_DRAIN_S = 600;

/** What every process reads about its operation: a part of its schema. */
export const OPS_VARIABLES = {
  OPS_HOST: address({
    description:
      'Address of health and metrics. They ask for no token: it should not be one that the public can reach.',
    default: '127.0.0.1',
  }),
  OPS_PORT: port({
    description: 'Port of health and metrics (/livez, /readyz, /metrics).',
    default: '9090',
  }),
  DRAIN_S: integer(0, LONGEST_DRAIN_S, {
    description:
      'Seconds that the process goes on answering after SIGTERM or SIGINT, not ready any more, ' +
      'so that load balancers lead elsewhere first. To end takes up to 10 seconds more.',
    default: '0',
  }),
} as const;
