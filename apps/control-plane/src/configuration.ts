import {
  address,
  byteSize,
  choice,
  cidrList,
  type Configuration,
  hexKey,
  integer,
  LOG_LEVELS,
  OPS_VARIABLES,
  optional,
  port,
  secret,
  secretList,
  text,
  url,
} from '@weir/ops';
import { DOCS_ACCESS } from './http/openapi/docs-access.js';

/** Every variable of the control plane. */
export const SCHEMA = {
  DATABASE_URL: url(['postgresql', 'postgres'], {
    description: 'PostgreSQL: the configuration, its revision log and the catalogue.',
  }),
  SCHEMA_WAIT_S: integer(0, 3600, {
    description:
      'Longest that a start waits for the migrations of the database, which may run at the same time. 0: it does not wait.',
    default: '60',
  }),
  REDIS_URL: url(['redis', 'rediss'], {
    description: 'Redis: tells resolvers of changes and hears their acknowledgements.',
  }),
  MANAGEMENT_HOST: address({
    description: 'Address of the management API.',
    default: '127.0.0.1',
  }),
  MANAGEMENT_PORT: port({ description: 'Port of the management API.', default: '8080' }),
  MANAGEMENT_TOKENS: secretList(16, {
    description:
      'Bearer tokens of the management API. Several, so that one can be replaced without an outage.',
  }),
  MANAGEMENT_ALLOWED_SOURCES: optional(
    cidrList({ description: 'Networks that may call the management API. Unset: any.' }),
  ),
  MANAGEMENT_TRUSTED_PROXIES: optional(
    cidrList({ description: 'Proxies whose X-Forwarded-For is believed. Unset: none.' }),
  ),
  MANAGEMENT_TLS_CERT: optional(
    text('a PEM file', {
      description: 'Certificate chain of the management API, which is https then. Unset: http.',
    }),
  ),
  MANAGEMENT_TLS_KEY: optional(
    text('a PEM file', { description: 'Private key of the certificate.' }),
  ),
  MANAGEMENT_BODY_LIMIT: byteSize({
    description: 'Largest request body, decompressed; larger ones are answered with 413.',
    default: '256mb',
  }),
  MANAGEMENT_DOCS: choice(DOCS_ACCESS, {
    description:
      'Who may read /openapi.json and the pages at /docs: anybody, those with a token, or nobody.',
    default: 'token',
  }),
  DOMAIN_HASH_KEY: hexKey(16, {
    description:
      'Key under which domains are hashed; the same for every process, and for the life of the database.',
  }),
  PROPAGATION_TIMEOUT_MS: integer(0, 600_000, {
    description:
      'Longest that the answer to a change waits for all resolvers to have it in force. 0: it does not wait.',
    default: '1000',
  }),
  INIT_PROPAGATION_TIMEOUT_MS: integer(0, 600_000, {
    description:
      'The same for POST /init/, after which every resolver loads the whole configuration anew.',
    default: '30000',
  }),
  FEED_HOST: address({
    description: 'Address of the feed API.',
    default: '127.0.0.1',
  }),
  FEED_PORT: port({
    description: 'Port of the feed API that resolvers and block pages follow.',
    default: '8090',
  }),
  FEED_TOKEN: secret(16, { description: 'Bearer token of the feed API.' }),
  CATALOGUE: text('a folder or an http(s) URL', {
    description: 'Folder of the catalogue definition, with its catalogue.yaml, or the URL of one.',
    default: 'catalogue',
  }),
  CATALOGUE_INTERVAL_MS: integer(1_000, 3_600_000, {
    description:
      'How often the definition and the list files beside it are looked at, and sources that are URLs asked if their time has come.',
    default: '20000',
  }),
  CATALOGUE_SOURCE_TIMEOUT_MS: integer(1_000, 86_400_000, {
    description: 'Longest that reading one source may take.',
    default: '600000',
  }),
  CATALOGUE_SOURCE_LIMIT: byteSize({
    description: 'Largest source, as it is sent; unpacked it may be four times as large.',
    default: '1gb',
  }),
  ...OPS_VARIABLES,
  LOG_LEVEL: choice(LOG_LEVELS, { description: 'Least severe log level.', default: 'info' }),
};

export type ControlPlaneConfiguration = Configuration<typeof SCHEMA>;
