import {
  address,
  boolean,
  byteSize,
  choice,
  cidrList,
  type Configuration,
  DEPLOYMENT_VARIABLES,
  hexKey,
  INCIDENT_VARIABLES,
  integer,
  LOG_LEVELS,
  matchingSecretList,
  nameList,
  needs,
  OPS_VARIABLES,
  optional,
  port,
  replacedBy,
  secretList,
  text,
  url,
  type Variable,
  type VariableSchema,
} from '@weir/ops';
import { TSIG_KEY } from '@weir/catalogue';
import { TELEMETRY_VARIABLES } from '@weir/telemetry';
import { ANSWER_VARIABLES, FEED_VARIABLES } from '@weir/policy-feed/state';

/** Variables of resolvers, by which `GET /explain/` says what they answer. */
function likeResolvers<S extends VariableSchema>(schema: S): S {
  const note = 'GET /explain/ follows it: use the same value as for the resolvers.';
  const described = Object.entries(schema).map(([name, variable]) => [
    name,
    { ...variable, description: `${variable.description} ${note}` },
  ]);
  return Object.fromEntries(described) as S;
}

function pemFile(description: string, other: string): Variable<string | undefined> {
  return optional(needs(other, text('a PEM file', { description })));
}

/** All variables of the control plane. */
export const SCHEMA = {
  DATABASE_URL: url(['postgresql', 'postgres'], {
    description:
      'URL of PostgreSQL, which stores the configuration, the change log and the catalogue.',
  }),
  SCHEMA_WAIT_S: integer(0, 3600, {
    description:
      'Longest time that a start waits for pending migrations of the database. 0: no wait.',
    default: '60',
  }),
  REDIS_URL: url(['redis', 'rediss'], {
    description:
      'URL of Redis, which carries changes to the resolvers and their acknowledgements back.',
  }),
  MANAGEMENT_HOST: address({
    description: 'Address of the management API.',
    default: '127.0.0.1',
  }),
  MANAGEMENT_PORT: port({ description: 'Port of the management API.', default: '8080' }),
  MANAGEMENT_TOKENS: replacedBy(
    'MANAGEMENT_TOKENS_FILE',
    secretList(16, {
      description:
        'Bearer tokens of the management API. Use several to replace one without an outage. They may do everything.',
    }),
  ),
  MANAGEMENT_TOKENS_FILE: optional(
    text('a YAML file', {
      description:
        'More tokens: a YAML list with name, sha256 (see weir token), scope (read, write or replace), and ' +
        'optionally sources and expires. A changed file is used within two seconds, without a restart. A bad one ' +
        'is logged and changes nothing; at the start it ends the process.',
    }),
  ),
  MANAGEMENT_CALLS_PER_SECOND: integer(1, 1_000_000, {
    description:
      'Calls that each token may make in a second, on each control plane. Further ones get 429 with Retry-After.',
    default: '5000',
  }),
  MANAGEMENT_CALLS_AT_ONCE: integer(1, 100_000, {
    description:
      'Calls that each token may have in progress, on each control plane. Further ones get 429.',
    default: '512',
  }),
  MANAGEMENT_LISTS_AT_ONCE: integer(1, 11, {
    description:
      'Whole lists, such as GET /net/, that each token may read at a time, on each control plane. Further ones get ' +
      '429. Twelve connections to PostgreSQL serve the lists of all tokens.',
    default: '8',
  }),
  MANAGEMENT_CONNECTIONS: integer(16, 65_536, {
    description:
      'Open connections of the management API; more are closed at once. Sources that are not approved have 64 of them.',
    default: '4096',
  }),
  MANAGEMENT_ALLOWED_SOURCES: optional(
    cidrList({ description: 'Networks that may call the management API. Unset: all.' }),
  ),
  MANAGEMENT_TRUSTED_PROXIES: optional(
    cidrList({
      description: 'Networks of proxies whose X-Forwarded-For header is trusted. Unset: none.',
    }),
  ),
  MANAGEMENT_TLS_CERT: pemFile(
    'Certificate chain for HTTPS on the management API. Unset: HTTP. Changed files are used within two seconds, ' +
      'without a restart. Bad ones are logged and change nothing; at the start they end the process.',
    'MANAGEMENT_TLS_KEY',
  ),
  MANAGEMENT_TLS_KEY: pemFile(
    'Private key of the certificate of the management API.',
    'MANAGEMENT_TLS_CERT',
  ),
  MANAGEMENT_TLS_CLIENT_CA: pemFile(
    'Certificates of authorities. With it, clients of the management API need a certificate that one of them has ' +
      'signed, and the token as well. It is read again like the certificate. Unset: clients need no certificate.',
    'MANAGEMENT_TLS_CERT',
  ),
  MANAGEMENT_BODY_LIMIT: byteSize({
    description:
      'Largest body of POST /init/ after decompression. Other bodies have the same limit, but at most 16mb. A larger ' +
      'one is answered with 413.',
    default: '256mb',
  }),
  MANAGEMENT_STALL_S: integer(1, 300, {
    description:
      'Longest time in seconds for which a client may send no bytes of its body, or read no bytes of its response. ' +
      'Then the call is answered with 408, or its connection is closed.',
    default: '30',
  }),
  MANAGEMENT_DOCS: choice(['public', 'token', 'off'], {
    description:
      'Who may read /openapi.json and /docs: everybody, clients with a token, or nobody.',
    default: 'token',
  }),
  MANAGEMENT_CONSOLE: boolean({
    description:
      'Whether the console is served at /console/ of the management API. It asks for a token; without one it shows ' +
      'nothing.',
    default: 'true',
  }),
  DOMAIN_HASH_KEY: hexKey(16, {
    description:
      'Key for the hashes of domains. It must be the same in all processes, and must never change for a database.',
  }),
  PROPAGATION_TIMEOUT_MS: integer(0, 600_000, {
    description:
      'Longest time that the response to a change waits until all resolvers have applied it. 0: no wait.',
    default: '1000',
  }),
  CHANGE_WAIT_MS: integer(100, 25_000, {
    description:
      'Longest time that a change waits in all for the changes before it, such as a long POST /init/ on any control ' +
      'plane. Then it is answered with 503 and Retry-After.',
    default: '20000',
  }),
  INIT_PROPAGATION_TIMEOUT_MS: integer(0, 600_000, {
    description:
      'Longest time that the response to POST /init/ waits until all resolvers have loaded the new configuration. ' +
      '0: no wait.',
    default: '30000',
  }),
  AUDIT_DAYS: integer(1, 36_500, {
    description:
      'How many days the record of a change is kept: who made it, from where, by which request, and what it changed.',
    default: '400',
  }),
  MISSING_RESOLVER_S: integer(0, 86_400, {
    description:
      'How long in seconds a resolver counts in the m of X-Config-Applied: k/m after it has fallen silent without ' +
      'saying that it stops, because it may still be answering queries. No change waits for it. A resolver that is ' +
      'back under its RESOLVER_NAME takes its place at once.',
    default: '60',
  }),
  FEED_HOST: address({
    description: 'Address of the feed API.',
    default: '127.0.0.1',
  }),
  FEED_PORT: port({
    description:
      'Port of the feed API, from which resolvers and block pages read the configuration.',
    default: '8090',
  }),
  ...likeResolvers({ SCHEDULE_TIMEZONE: FEED_VARIABLES.SCHEDULE_TIMEZONE, ...ANSWER_VARIABLES }),
  ...DEPLOYMENT_VARIABLES,
  ...INCIDENT_VARIABLES,
  FEED_TLS_CERT: pemFile(
    'Certificate chain for HTTPS on the feed API. Unset: HTTP. It is read again like that of the management API.',
    'FEED_TLS_KEY',
  ),
  FEED_TLS_KEY: pemFile('Private key of the certificate of the feed API.', 'FEED_TLS_CERT'),
  FEED_DIR: optional(
    text('a folder', {
      description:
        'Folder for what the feed API sends to many, compressed: snapshots, and deltas of catalogue images. The ' +
        'files have no names and end with the process. Unset: the folder of the system for temporary files.',
    }),
  ),
  FEED_DOWNLOADS: integer(1, 1_000, {
    description:
      'Snapshots that the feed API sends at the same time, and as many catalogue images. Further requests get 503 ' +
      'with Retry-After.',
    default: '64',
  }),
  SNAPSHOT_MAX_AGE_S: integer(10, 10_800, {
    description:
      'Age from which on the next request for a snapshot makes a new one. Until it is there, and no longer than four ' +
      'times this age, the old one is sent: followers go on with the change log from there.',
    default: '600',
  }),
  SNAPSHOT_MAX_REVISIONS: integer(100, 20_000, {
    description:
      'Number of changes since a snapshot was made from which on the next request makes a new one, as with ' +
      'SNAPSHOT_MAX_AGE_S.',
    default: '10000',
  }),
  CATALOGUE: text('a folder or an http(s) URL', {
    description: 'Folder with the catalogue.yaml of the catalogue, or the URL of such a folder.',
    default: 'catalogue',
  }),
  CATALOGUE_SETS: optional(
    nameList({
      description:
        'Sets of public lists that are on besides those that catalogue.yaml includes, as `weir catalogue sets` names them.',
    }),
  ),
  CATALOGUE_INTERVAL_MS: integer(1_000, 3_600_000, {
    description:
      'Interval of the checks for a changed definition, changed list files, and URLs that are due.',
    default: '20000',
  }),
  CATALOGUE_SOURCE_TIMEOUT_MS: integer(1_000, 86_400_000, {
    description: 'Longest time to read a source from one place. Each of its mirrors has as long.',
    default: '600000',
  }),
  CATALOGUE_SOURCE_LIMIT: byteSize({
    description: 'Largest source as it is sent. Unpacked it may be four times as large.',
    default: '1gb',
  }),
  CATALOGUE_TSIG_KEYS: optional(
    matchingSecretList(
      TSIG_KEY,
      'comma-separated keys such as hmac-sha256:NAME:SECRET, the secret in base64',
      {
        description:
          'Keys of zone transfers, as tsig-keygen makes them: sources with rpz:// name one with ?key=NAME. ' +
          'hmac-sha224, hmac-sha256, hmac-sha384 or hmac-sha512.',
      },
    ),
  ),
  ...OPS_VARIABLES,
  ...TELEMETRY_VARIABLES,
  LOG_LEVEL: choice(LOG_LEVELS, {
    description: 'Lowest level of messages that are logged.',
    default: 'info',
  }),
};

export type ControlPlaneConfiguration = Configuration<typeof SCHEMA>;
