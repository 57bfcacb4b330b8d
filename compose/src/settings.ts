import { SCHEMA as BLOCK_PAGE } from '@weir/block-page/configuration';
import { SCHEMA as CONTROL_PLANE } from '@weir/control-plane/configuration';
import { optional, secret, text, type Variable, type VariableSchema } from '@weir/ops';
import { SCHEMA as RESOLVER } from '@weir/resolver/configuration';
import { SCHEMA as MIGRATE } from '@weir/tools/migrate/configuration';

const SHORTEST_SECRET = 16;

/** What each process reads, by the name of its image. */
export const PROCESS_SCHEMAS: Readonly<Record<string, VariableSchema>> = {
  'control-plane': CONTROL_PLANE,
  resolver: RESOLVER,
  'block-page': BLOCK_PAGE,
  migrate: MIGRATE,
};

/** Variables that docker-compose.yml or the image sets for good: where things are inside the containers. */
export const SET_IN_THE_FILES: readonly string[] = [
  'DATABASE_URL',
  'REDIS_URL',
  'FEED_URL',
  'DATA_DIR',
  'MANAGEMENT_HOST',
  'MANAGEMENT_PORT',
  'FEED_HOST',
  'FEED_PORT',
  'OPS_HOST',
  'OPS_PORT',
  'DNS_HOST',
  'DNS_PORT',
  'BLOCK_PAGE_HOST',
  'BLOCK_PAGE_PORT',
  // A port that is not published refuses connections without the block page's help.
  'BLOCK_PAGE_HTTPS_PORT',
];

/** Defaults of the images that differ from those of the processes. */
export const IMAGE_DEFAULTS: Readonly<Record<string, string>> = {
  DRAIN_S: '5',
  CATALOGUE: '/app/catalogue',
};

/** Passwords that docker-compose.yml gives to the servers beside Weir. They become parts of URLs. */
export const PASSWORDS: VariableSchema = {
  POSTGRES_PASSWORD: password('Password of the database. Only its first start sets it.'),
  REDIS_PASSWORD: password('Password of Redis.'),
  GRAFANA_PASSWORD: password(
    'Password of Grafana’s user admin (profile monitoring). Only its first start sets it.',
  ),
};

/** Where this machine is reached, and what else docker-compose.yml reads itself. */
export const MACHINE: VariableSchema = {
  MANAGEMENT_LISTEN: listen('the management API', '8080'),
  RESOLVER_1_LISTEN: listen('the first resolver, UDP and TCP', '5300'),
  RESOLVER_2_LISTEN: listen('the second resolver, UDP and TCP', '5301'),
  BLOCK_PAGE_LISTEN: listen('the block page', '8081'),
  BALANCER_LISTEN: listen('the load balancer (profile balancer), UDP and TCP', '5353'),
  PROMETHEUS_LISTEN: listen('Prometheus (profile monitoring)', '9091'),
  GRAFANA_LISTEN: listen('Grafana (profile monitoring)', '3000'),
  SUBNET_PREFIX: text('the first three numbers of an IPv4 address', {
    description: 'Network of the containers, a /24 that is not in use elsewhere.',
    default: '172.30.53',
  }),
  IMAGE_PREFIX: text('a name such as registry.example.net/weir', {
    description: 'Registry and folder of Weir’s images.',
    default: 'weir',
  }),
};

/** Arguments of the Dockerfile. */
export const BUILD_ARGUMENTS: VariableSchema = {
  BASE_IMAGE: text('an image of Debian 12', {
    description: 'What the images are built on: a digest, or a copy in another registry.',
    default: 'docker.io/library/debian:bookworm-slim',
  }),
  NPM_CONFIG_REGISTRY: optional(
    text('a URL', { description: 'npm registry to install from. Unset: the one that npm knows.' }),
  ),
  REVISION: optional(
    text('a commit', { description: 'The commit that the images are built from, for --version.' }),
  ),
};

function password(description: string): Variable<string> {
  return secret(SHORTEST_SECRET, { description });
}

function listen(what: string, port: string): Variable<string> {
  return text('an address with a port, such as 192.0.2.53:53 or [2001:db8::53]:53', {
    description: `Address and port of this machine for ${what}.`,
    default: `127.0.0.1:${port}`,
  });
}
