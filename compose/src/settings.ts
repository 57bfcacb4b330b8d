import { SCHEMA as BLOCK_PAGE } from '@weir/block-page/configuration';
import { SCHEMA as CONTROL_PLANE } from '@weir/control-plane/configuration';
import { optional, secret, text, type Variable, type VariableSchema } from '@weir/ops';
import { SCHEMA as RESOLVER } from '@weir/resolver/configuration';
import { SCHEMA as MIGRATE } from '@weir/tools/migrate/configuration';

const MIN_SECRET_LENGTH = 16;

/** Name of the image → variables of its process. */
export const PROCESS_SCHEMAS: Readonly<Record<string, VariableSchema>> = {
  // `make-env.sh` makes these secrets, so they are required here and optional elsewhere.
  'control-plane': {
    ...CONTROL_PLANE,
    MANAGEMENT_TOKENS: required(CONTROL_PLANE.MANAGEMENT_TOKENS),
    INCIDENT_KEYS: required(CONTROL_PLANE.INCIDENT_KEYS),
  },
  resolver: {
    ...RESOLVER,
    OPS_TOKENS: required(RESOLVER.OPS_TOKENS),
    DNS_COOKIE_SECRETS: required(RESOLVER.DNS_COOKIE_SECRETS),
  },
  'block-page': { ...BLOCK_PAGE, INCIDENT_KEYS: required(BLOCK_PAGE.INCIDENT_KEYS) },
  migrate: MIGRATE,
};

/** Variables that docker-compose.yml or the image sets, and .env cannot: addresses and paths inside the containers. */
export const FIXED_VARIABLES: readonly string[] = [
  'DATABASE_URL',
  'OWNER_DATABASE_URL',
  'REDIS_URL',
  'FEED_URL',
  // The feed does not leave the network of the containers.
  'FEED_TLS_CERT',
  'FEED_TLS_KEY',
  'FEED_CA',
  'FEED_PINS',
  'DATA_DIR',
  'MANAGEMENT_HOST',
  'MANAGEMENT_PORT',
  'FEED_HOST',
  'FEED_PORT',
  'FEED_DIR',
  'OPS_HOST',
  'OPS_PORT',
  // Each process has its own: one name for all of them would be a mistake.
  'OTEL_SERVICE_NAME',
  'DNS_HOST',
  'DNS_PORT',
  'BLOCK_PAGE_HOST',
  'BLOCK_PAGE_PORT',
  // Not needed: Docker refuses connections to a port that is not published.
  'BLOCK_PAGE_HTTPS_PORT',
];

/** Defaults of the images that differ from the defaults of the processes. */
export const IMAGE_DEFAULTS: Readonly<Record<string, string>> = {
  DRAIN_S: '5',
  CATALOGUE: '/app/catalogue',
};

/** Passwords of the other servers in docker-compose.yml. They become parts of URLs. */
export const PASSWORDS: VariableSchema = {
  POSTGRES_PASSWORD: password(
    'Password of weir, which owns the database. It takes effect only at the first start of PostgreSQL.',
  ),
  POSTGRES_RUNTIME_PASSWORD: password(
    'Password of weir_runtime, with which the control plane uses the database.',
  ),
  REDIS_PASSWORD: password('Password of Redis.'),
  GRAFANA_PASSWORD: password(
    'Password of Grafana’s user admin (profile monitoring). It takes effect only at the first start of Grafana.',
  ),
};

/** Settings that docker-compose.yml itself reads: addresses of this machine, network, names of images. */
export const COMPOSE_SETTINGS: VariableSchema = {
  MANAGEMENT_LISTEN: listen('the management API', '8080'),
  RESOLVER_1_LISTEN: listen('the first resolver, UDP and TCP', '5300'),
  RESOLVER_2_LISTEN: listen('the second resolver, UDP and TCP', '5301'),
  BLOCK_PAGE_LISTEN: listen('the block page', '8081'),
  BALANCER_LISTEN: listen('the load balancer (profile balancer), UDP and TCP', '5353'),
  PROMETHEUS_LISTEN: listen('Prometheus (profile monitoring)', '9091'),
  GRAFANA_LISTEN: listen('Grafana (profile monitoring)', '3000'),
  SUBNET_PREFIX: text('the first three numbers of an IPv4 address', {
    description:
      'First three numbers of the containers’ network, a /24 that is not used elsewhere.',
    default: '172.30.53',
  }),
  IMAGE_PREFIX: text('a name such as registry.example.net/weir', {
    description: 'Registry and path of Weir’s images.',
    default: 'weir',
  }),
};

/** Arguments of the Dockerfile. */
export const BUILD_ARGUMENTS: VariableSchema = {
  BASE_IMAGE: text('an image of Debian 12', {
    description: 'Base image of the images: a digest, or a copy in another registry.',
    default: 'docker.io/library/debian:bookworm-slim',
  }),
  NPM_CONFIG_REGISTRY: optional(
    text('a URL', { description: 'npm registry to install from. Unset: the default of npm.' }),
  ),
  REVISION: optional(
    text('a commit', {
      description:
        'Commit from which the images are built. --version prints it. Unset: build-images.sh asks git.',
    }),
  ),
  SOURCE: optional(
    text('a URL', {
      description:
        'Repository from which the images are built. Unset: build-images.sh takes that of the clone.',
    }),
  ),
};

function required<T>(variable: Variable<T>): Variable<T> {
  const { allowed, secret: isSecret, valueSchema, parse } = variable;
  const description = variable.description.replace(/ Unset: .*$/, '');
  return { description, allowed, default: undefined, secret: isSecret, valueSchema, parse };
}

function password(description: string): Variable<string> {
  const variable = secret(MIN_SECRET_LENGTH, { description });
  // Others, such as /, would have to be escaped.
  return { ...variable, allowed: `at least ${MIN_SECRET_LENGTH} letters and digits` };
}

function listen(what: string, port: string): Variable<string> {
  return text('an address with a port, such as 192.0.2.53:53 or [2001:db8::53]:53', {
    description: `Address and port of this machine for ${what}.`,
    default: `127.0.0.1:${port}`,
  });
}
