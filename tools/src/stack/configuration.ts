import {
  address,
  choice,
  type Configuration,
  hexKey,
  integer,
  OPS_VARIABLES,
  optional,
  port,
  secret,
  secretList,
  text,
  url,
} from '@weir/ops';

const LAST_PORT = 65535;
const MOST_RESOLVERS = 10;
/** Health and metrics of resolver i are on `OPS_PORT` + this + i. */
export const FIRST_RESOLVER_OPS = 10;
/** Health, metrics and preview of the block page are on `OPS_PORT` + this. */
export const BLOCK_PAGE_OPS = FIRST_RESOLVER_OPS + MOST_RESOLVERS;
/** Health and metrics of the stack itself are on `OPS_PORT` + this. */
export const STACK_OPS = 30;

/** Variables of the local stack itself. Every other variable goes to the processes as it stands, and they check it. */
export const STACK_SCHEMA = {
  DATA_DIR: text('a folder', {
    description:
      'Folder of the local stack: database, secrets and logs; from the repository’s root when it is relative. Made when it is not there.',
    default: '.weir',
  }),
  DATABASE_URL: optional(
    url(['postgresql', 'postgres'], {
      description: 'A running PostgreSQL. Unset: one is started, its data under `DATA_DIR`.',
    }),
  ),
  REDIS_URL: optional(
    url(['redis', 'rediss'], { description: 'A running Redis. Unset: a private one is started.' }),
  ),
  MANAGEMENT_HOST: address({
    description: 'Address of the management API.',
    default: '127.0.0.1',
  }),
  MANAGEMENT_PORT: port({
    description: 'Port of the management API.',
    default: '8080',
    lowest: 1,
  }),
  MANAGEMENT_TOKENS: optional(
    secretList(16, {
      description:
        'Bearer tokens of the management API. Unset: one is made and kept in `DATA_DIR`.',
    }),
  ),
  MANAGEMENT_DOCS: choice(['public', 'token', 'off'], {
    description: 'Who may read the API’s documentation, `/docs` and `/openapi.json`.',
    default: 'public',
  }),
  MANAGEMENT_TLS_CERT: optional(
    text('a file', {
      description:
        'Certificate chain of the management API, PEM, with `MANAGEMENT_TLS_KEY`; then it is https. From the repository’s root when it is relative.',
    }),
  ),
  FEED_HOST: address({ description: 'Address of the feed API.', default: '127.0.0.1' }),
  FEED_PORT: port({
    description: 'Port of the feed API that resolvers follow.',
    default: '8090',
    lowest: 1,
  }),
  FEED_TOKEN: optional(
    secret(16, {
      description: 'Token of the feed API. Unset: one is made and kept in `DATA_DIR`.',
    }),
  ),
  DOMAIN_HASH_KEY: optional(
    hexKey(16, {
      description: 'Key under which domains are hashed. Unset: one is made and kept in `DATA_DIR`.',
    }),
  ),
  DNS_HOST: address({ description: 'Address of the resolvers.', default: '127.0.0.1' }),
  DNS_PORT: port({
    description: 'Port of the first resolver, UDP and TCP; resolver i listens on `DNS_PORT` + i.',
    default: '5300',
    lowest: 1,
    highest: LAST_PORT - MOST_RESOLVERS,
  }),
  DNS_TLS_PORT: optional(
    port({
      description:
        'Port of DNS over TLS at the first resolver, which needs `DNS_TLS_CERT` and `DNS_TLS_KEY`; resolver i listens on `DNS_TLS_PORT` + i. Unset: it is not spoken.',
      lowest: 1,
      highest: LAST_PORT - MOST_RESOLVERS,
    }),
  ),
  DNS_HTTPS_PORT: optional(
    port({
      description: 'Likewise of DNS over HTTPS.',
      lowest: 1,
      highest: LAST_PORT - MOST_RESOLVERS,
    }),
  ),
  RESOLVERS: integer(1, MOST_RESOLVERS, {
    description: 'How many resolvers to run.',
    default: '2',
  }),
  BLOCK_PAGE_HOST: address({ description: 'Address of the block page.', default: '127.0.0.1' }),
  BLOCK_PAGE_PORT: port({
    description: 'HTTP port of the block page.',
    default: '8081',
    lowest: 1,
  }),
  DRAIN_S: OPS_VARIABLES.DRAIN_S,
  OPS_HOST: address({
    description: 'Address of health and metrics of all processes.',
    default: '127.0.0.1',
  }),
  OPS_PORT: port({
    description:
      'Port of health and metrics: the control plane here, resolver i on `OPS_PORT` + 10 + i, the block page on `OPS_PORT` + 20, the stack itself on `OPS_PORT` + 30.',
    default: '9090',
    lowest: 1,
    highest: LAST_PORT - STACK_OPS,
  }),
};

export type StackConfiguration = Configuration<typeof STACK_SCHEMA>;
