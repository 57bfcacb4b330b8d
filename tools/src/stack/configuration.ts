import {
  address,
  boolean,
  choice,
  type Configuration,
  hexKey,
  hexKeyList,
  integer,
  listenAddressGroups,
  OPS_VARIABLES,
  optional,
  port,
  secretList,
  text,
  url,
} from '@weir/ops';

const MAX_PORT = 65535;
const MAX_RESOLVERS = 10;
/** Addresses of one resolver. */
const MAX_DNS_HOSTS = 16;
/** Health and metrics of resolver i are on `OPS_PORT` + this + i. */
export const FIRST_RESOLVER_OPS_OFFSET = 10;
/** Health, metrics and preview of the block page are on `OPS_PORT` + this. */
export const BLOCK_PAGE_OPS_OFFSET = FIRST_RESOLVER_OPS_OFFSET + MAX_RESOLVERS;
/** Health and metrics of the stack itself are on `OPS_PORT` + this. */
export const STACK_OPS_OFFSET = 30;

const postgresUrl = (description: string) =>
  optional(url(['postgresql', 'postgres'], { description }));

/** What the stack makes where it is not given. */
const generated = (description: string) => ({
  description: `${description} Unset: one is generated and kept in \`DATA_DIR\`.`,
});
const tokens = (description: string) => optional(secretList(16, generated(description)));
const keys = (description: string) => optional(hexKeyList(16, 2, generated(description)));

/** An address or a port of this machine. */
const host = (description: string) => address({ description, default: '127.0.0.1' });
/** 0 is refused. */
const fixedPort = (description: string, value: string, highest = MAX_PORT) =>
  port({ description, default: value, lowest: 1, highest });

const encryptedPort = (name: string, protocol: string) =>
  optional(
    port({
      description:
        `Port of ${protocol} of the first resolver; resolver i listens on \`${name}\` + i, as with \`DNS_PORT\`. ` +
        `It needs \`DNS_TLS_CERT\` and \`DNS_TLS_KEY\`. Unset: no ${protocol}.`,
      lowest: 1,
      highest: MAX_PORT - MAX_RESOLVERS,
    }),
  );

/** Variables of the local stack itself. Every other variable is passed on to the processes, which check it. */
export const STACK_SCHEMA = {
  DATA_DIR: text('a folder', {
    description:
      'Folder of the local stack: database, secrets and logs. A relative path starts at the repository’s root. ' +
      'The folder is created if it does not exist.',
    default: '.weir',
  }),
  DATABASE_URL: postgresUrl(
    'A running PostgreSQL. Unset: one is started, with its data in `DATA_DIR`.',
  ),
  OWNER_DATABASE_URL: postgresUrl(
    'With `DATABASE_URL`: the same database with the role that owns the tables. The role of `DATABASE_URL` is ' +
      'then created if it is missing, and may read and write rows, no more. Unset: the role of `DATABASE_URL` owns ' +
      'the tables.',
  ),
  REDIS_URL: optional(
    url(['redis', 'rediss'], { description: 'A running Redis. Unset: a private one is started.' }),
  ),
  MANAGEMENT_HOST: host('Address of the management API.'),
  MANAGEMENT_PORT: fixedPort('Port of the management API.', '8080'),
  MANAGEMENT_TOKENS: tokens('Bearer tokens of the management API.'),
  MANAGEMENT_DOCS: choice(['public', 'token', 'off'], {
    description: 'Who may read the API’s documentation, `/docs` and `/openapi.json`.',
    default: 'public',
  }),
  MANAGEMENT_CONSOLE: boolean({
    description: 'Whether the console is served at `/console/`.',
    default: 'true',
  }),
  MANAGEMENT_TLS_CERT: optional(
    text('a file', {
      description:
        'Certificate chain of the management API (PEM). With `MANAGEMENT_TLS_KEY` it turns on https. ' +
        'A relative path starts at the repository’s root.',
    }),
  ),
  FEED_HOST: host('Address of the feed API.'),
  FEED_PORT: fixedPort('Port of the feed API, which resolvers and the block page read.', '8090'),
  FEED_TOKENS: tokens('Tokens of the feed API.'),
  DOMAIN_HASH_KEY: optional(hexKey(16, generated('Key of the domain hashes.'))),
  OPS_TOKENS: tokens(
    'Bearer tokens of the calls on the resolvers’ ops ports that need one, such as the flush of the cache.',
  ),
  DNS_COOKIE_SECRETS: keys('Secrets for DNS cookies, the same for all resolvers.'),
  INCIDENT_KEYS: keys('Keys of the incident numbers on block pages.'),
  DNS_HOST: listenAddressGroups(MAX_DNS_HOSTS, {
    description:
      'Addresses of the resolvers. All resolvers listen on all of them, on ports of their own. With a ; between ' +
      'addresses each resolver has its own addresses, in the order of the resolvers, and all have the same port.',
    default: '127.0.0.1',
  }),
  DNS_PORT: fixedPort(
    'Port of the first resolver, UDP and TCP; resolver i listens on `DNS_PORT` + i. With a ; in `DNS_HOST`: the ' +
      'port of every resolver.',
    '5300',
    MAX_PORT - MAX_RESOLVERS,
  ),
  DNS_TLS_PORT: encryptedPort('DNS_TLS_PORT', 'DNS over TLS'),
  DNS_HTTPS_PORT: encryptedPort('DNS_HTTPS_PORT', 'DNS over HTTPS'),
  RESOLVERS: integer(1, MAX_RESOLVERS, {
    description: 'How many resolvers to run.',
    default: '2',
  }),
  RESOLVER_THREADS: integer(1, 64, {
    description: 'Threads of each resolver that answer UDP queries.',
    default: '1',
  }),
  BLOCK_PAGE_HOST: host('Address of the block page.'),
  BLOCK_PAGE_PORT: fixedPort('HTTP port of the block page.', '8081'),
  DRAIN_S: OPS_VARIABLES.DRAIN_S,
  OPS_HOST: host('Address of health and metrics of all processes.'),
  OPS_PORT: fixedPort(
    'Port of health and metrics of the control plane. Resolver i is on `OPS_PORT` + 10 + i, the block page on ' +
      '`OPS_PORT` + 20, the stack itself on `OPS_PORT` + 30.',
    '9090',
    MAX_PORT - STACK_OPS_OFFSET,
  ),
};

export type StackConfiguration = Configuration<typeof STACK_SCHEMA>;
