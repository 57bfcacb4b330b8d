import { cidrList, nameList, type ValueSchema, type Variable } from '@weir/ops';
import { SCHEMA as MIGRATE } from '@weir/tools/migrate/configuration';
import { type Component, COMPONENTS, isInSecret } from '../components.js';
import {
  ADDITIONS,
  bundledStore,
  PLACEMENT,
  PROCESS,
  publicService,
  REPLICAS,
  USER,
  VOLUME_SIZE,
  BOOLEAN,
  NAME,
  OBJECT,
  OBJECTS,
  object,
  enumOf,
  PORT,
  QUANTITY,
  STRING,
  STRING_MAP,
  integer,
} from './parts.js';

/** Port 0 is refused: a Service needs a known port. Only resolvers may bind a port below 1024. */
const LOWEST_PORT: Readonly<Record<Component, number>> = {
  controlPlane: 1024,
  resolver: 1,
  blockPage: 1024,
};

/** DATABASE_URL is described as that of the control plane. */
const OF_MIGRATION = { OWNER_DATABASE_URL: MIGRATE.OWNER_DATABASE_URL };

/** White space, within brackets. `\s` of ECMAScript has more characters than that of RE2, which Helm uses. */
const SPACES = String.raw` \t\n\v\f\r`;

/** Schema of `env` of a component: every variable of its process that is not secret. */
function environmentSchema(component: Component): ValueSchema {
  const variables = Object.entries<Variable<unknown>>(COMPONENTS[component].variables);
  return object(
    Object.fromEntries(
      variables
        .filter(([name, variable]) => !isInSecret(name, variable))
        .map(([name, variable]) => [name, describe(name, variable, LOWEST_PORT[component])]),
    ),
  );
}

/** Schema of `secrets.values`: every secret variable of any process. */
function secretsSchema(): ValueSchema {
  const schemas = [...Object.values(COMPONENTS).map(({ variables }) => variables), OF_MIGRATION];
  const variables = schemas.flatMap((schema) => Object.entries<Variable<unknown>>(schema));
  return object(
    Object.fromEntries(
      variables
        .filter(([name, variable]) => isInSecret(name, variable))
        .map(([name, variable]) => [name, describe(name, variable)]),
    ),
  );
}

function describe(
  name: string,
  { description, valueSchema }: Variable<unknown>,
  lowestPort = 0,
): ValueSchema {
  const bounds = name.endsWith('_PORT') ? { minimum: lowestPort } : {};
  return { description, ...withPortablePattern(valueSchema), ...bounds };
}

function withPortablePattern(schema: ValueSchema): ValueSchema {
  const { pattern, items } = schema;
  return {
    ...schema,
    ...(typeof pattern === 'string' && {
      pattern: pattern
        .replaceAll(String.raw`\S`, `[^${SPACES}]`)
        .replaceAll(String.raw`\s`, SPACES),
    }),
    ...(items !== undefined && { items: withPortablePattern(items as ValueSchema) }),
  };
}

/** Empty, or a path that begins with /. */
const ABSOLUTE_PATH: ValueSchema = { type: 'string', pattern: '^(?:/.*)?$' };
/** Empty, or a host name, which may begin with `*.`. */
const HOST_NAME: ValueSchema = { type: 'string', pattern: '^(?:\\*\\.)?[a-z0-9.-]*$' };

/** Images of the chart. */
const IMAGES = ['control-plane', 'resolver', 'block-page', 'migrate'];
const DIGEST: ValueSchema = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' };

const controlPlane = object({
  ...PROCESS,
  replicas: REPLICAS,
  env: environmentSchema('controlPlane'),
  tlsSecret: NAME,
  feedTlsSecret: NAME,
  clientCaSecret: NAME,
  tokensSecret: NAME,
  snapshotSizeLimit: QUANTITY,
  catalogue: OBJECT,
  service: object({
    type: enumOf('ClusterIP', 'NodePort', 'LoadBalancer'),
    port: PORT,
    annotations: STRING_MAP,
  }),
  ingress: {
    ...object({
      enabled: BOOLEAN,
      className: NAME,
      host: HOST_NAME,
      tlsSecret: NAME,
      annotations: STRING_MAP,
    }),
    if: { properties: { enabled: { const: true } } },
    then: { properties: { host: { type: 'string', minLength: 1 } } },
  },
});

const resolver = object({
  ...PROCESS,
  kind: enumOf('StatefulSet', 'DaemonSet'),
  replicas: REPLICAS,
  env: environmentSchema('resolver'),
  // Empty: the variable.
  allowedClients: { ...cidrList({ description: '' }).valueSchema, minItems: 0 },
  tlsSecret: NAME,
  persistence: object({ enabled: BOOLEAN, ...VOLUME_SIZE, hostPath: ABSOLUTE_PATH }),
  autoscaling: object({
    enabled: BOOLEAN,
    minReplicas: REPLICAS,
    maxReplicas: REPLICAS,
    targetCpuPercent: integer(1, 100),
  }),
  service: publicService({
    separateUdp: BOOLEAN,
    ports: object({ udp: PORT, tcp: PORT, tls: PORT, https: PORT }),
  }),
});

const blockPage = object({
  ...PROCESS,
  replicas: REPLICAS,
  env: environmentSchema('blockPage'),
  pages: {
    type: 'object',
    patternProperties: { '^(?:0|[1-9][0-9]{0,9})$': { type: 'string', minLength: 1 } },
    additionalProperties: false,
  },
  content: OBJECT,
  service: publicService({ ports: object({ http: PORT, https: PORT }) }),
});

type Values = Readonly<Record<string, unknown>>;

/** A key of values.yaml that no template uses: null gives it the default of the process. */
const UNUSED = 'RESOLVER_THREADS';

/**
 * Requires the keys that values.yaml has: the templates use them, and only null in the values of an operator takes one
 * away. Those that may be null are not required.
 */
function requireDefaults(schema: ValueSchema, defaults: Values): ValueSchema {
  const properties = schema['properties'] as Readonly<Record<string, ValueSchema>> | undefined;
  if (properties === undefined) return schema;
  const below = Object.entries(properties).map(([key, one]) => {
    const value = defaults[key];
    return [key, isValues(value) ? requireDefaults(one, value) : one];
  });
  const required = Object.keys(properties).filter(
    (key) =>
      key in defaults && key !== UNUSED && ![properties[key]['type']].flat().includes('null'),
  );
  return { ...schema, properties: Object.fromEntries(below), required };
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * JSON Schema of the chart's values. The variables come from the configuration schemas of the processes.
 * @param defaults of values.yaml.
 */
export function valuesSchema(defaults: Values): ValueSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Weir chart',
    ...requireDefaults(
      object({
        // Helm adds `global` to the values of every chart.
        global: OBJECT,
        fullnameOverride: NAME,
        serviceAccountName: NAME,
        commonLabels: STRING_MAP,
        listen: enumOf('0.0.0.0', '::'),
        image: object({
          registry: STRING,
          repository: STRING,
          tag: STRING,
          pullPolicy: enumOf('Always', 'IfNotPresent', 'Never'),
          pullSecrets: OBJECTS,
          digest: object(Object.fromEntries(IMAGES.map((name) => [name, DIGEST]))),
          user: USER,
        }),
        secrets: object({
          existing: NAME,
          generate: BOOLEAN,
          values: secretsSchema(),
          feedTokensSecret: NAME,
        }),
        // Empty: the variable.
        catalogue: object({ sets: { ...nameList({ description: '' }).valueSchema, minItems: 0 } }),
        controlPlane,
        migration: object({
          backoffLimit: integer(0, 1000),
          deadlineSeconds: integer(1, 1_000_000),
          resources: OBJECT,
          ...PLACEMENT,
          ...ADDITIONS,
        }),
        resolver,
        blockPage,
        networkPolicy: object({
          enabled: BOOLEAN,
          metricsFrom: OBJECTS,
          managementFrom: OBJECTS,
          feedFrom: OBJECTS,
          egress: object({
            enabled: BOOLEAN,
            dnsTo: OBJECTS,
            controlPlane: OBJECTS,
            resolver: OBJECTS,
            blockPage: OBJECTS,
          }),
        }),
        monitoring: object({
          serviceMonitor: object({
            enabled: BOOLEAN,
            interval: { type: 'string', pattern: '^[0-9]+(?:ms|s|m)$' },
            labels: STRING_MAP,
          }),
          prometheusRule: object({ enabled: BOOLEAN, labels: STRING_MAP }),
          dashboard: object({ enabled: BOOLEAN, labels: STRING_MAP }),
        }),
        postgresql: bundledStore(VOLUME_SIZE),
        redis: bundledStore({}),
      }),
      defaults,
    ),
  };
}
