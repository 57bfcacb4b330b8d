import { boolean, integer, optional } from '@weir/ops';
import { receiver } from './value-kinds.js';

const MAX_METRICS_PROFILES = 10_000;
const MAX_SAMPLING = 1_000_000;

/** What operators are told about queries. */
export const OBSERVABILITY_VARIABLES = {
  METRICS_PROFILES: integer(0, MAX_METRICS_PROFILES, {
    description:
      'Number of profiles whose queries are counted one by one in the metrics: the first that are active for a ' +
      'query; all others share the label other. Each profile has up to fourteen time series for each resolver. 0: ' +
      'queries are not counted by profile.',
    default: '0',
  }),
  QUERY_LOG_SAMPLING: integer(0, MAX_SAMPLING, {
    description:
      'One of this many answered queries is logged on standard output, without the client. 1: every ' +
      'query. 0: none. When the reader of the log is too slow, lines are dropped and counted; ' +
      'queries never wait.',
    default: '0',
  }),
  QUERY_LOG_NAMES: boolean({
    description:
      'Whether the query log contains the queried names. Otherwise it contains hashes under DOMAIN_HASH_KEY, as in ' +
      'the management API.',
    default: 'false',
  }),
  DNSTAP_ENDPOINT: optional(
    receiver({
      description:
        'dnstap receiver to which answered queries are sent, as CLIENT_QUERY and CLIENT_RESPONSE. Frames that find ' +
        'no connection or a slow receiver are lost and counted; queries never wait. Unset: dnstap is off.',
    }),
  ),
  DNSTAP_SAMPLING: integer(1, MAX_SAMPLING, {
    description:
      'One of this many answered queries is sent to the dnstap receiver. 1: every query.',
    default: '1',
  }),
  DNSTAP_NAMES: boolean({
    description:
      'Whether dnstap messages contain the queried names and the records of answers. Otherwise the name is ' +
      '<hash>.invalid, with the hash of the query log, and there are no records.',
    default: 'false',
  }),
  DNSTAP_ADDRESSES: boolean({
    description: 'Whether dnstap messages contain the address and port of the client.',
    default: 'false',
  }),
} as const;
