import {
  cidrList,
  nameList,
  type ValueSchema,
  type Variable,
  type VariableSchema,
} from '@weir/ops';
import { SCHEMA as MIGRATE } from '@weir/tools/migrate/configuration';
import { type Component, COMPONENTS, isInSecret } from '../components.js';

const BOOLEAN: ValueSchema = { type: 'boolean' };
const STRING: ValueSchema = { type: 'string' };
const STRINGS: ValueSchema = { type: 'array', items: STRING };
/** An object that Kubernetes validates. */
const OBJECT: ValueSchema = { type: 'object' };
const OBJECTS: ValueSchema = { type: 'array', items: OBJECT };
/** Labels, annotations, node selectors. */
const STRING_MAP: ValueSchema = { type: 'object', additionalProperties: STRING };
const QUANTITY: ValueSchema = {
  type: 'string',
  pattern: '^[0-9]+(?:\\.[0-9]+)?(?:[KMGTPE]i|[mkMGTPE]|[eE][0-9]+)?$',
};
const PORT: ValueSchema = { type: 'integer', minimum: 1, maximum: 65535 };
/** Empty, or the name of an object. */
const NAME: ValueSchema = {
  type: 'string',
  pattern: '^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)?$',
  maxLength: 253,
};

function enumOf(...values: readonly string[]): ValueSchema {
  return { enum: values };
}

function integer(minimum: number, maximum: number): ValueSchema {
  return { type: 'integer', minimum, maximum };
}

type Properties = Readonly<Record<string, ValueSchema>>;

/** An object with these properties and no others. */
function object(properties: Properties): ValueSchema {
  return { type: 'object', properties, additionalProperties: false };
}

const MAX_PODS = 1000;

/** The names that begin with it have up to 63 characters. */
const MAX_PREFIX_LENGTH = 40;

const REPLICAS = integer(1, MAX_PODS);

/** Scheduling of every pod. */
const PLACEMENT: Properties = {
  nodeSelector: STRING_MAP,
  tolerations: OBJECTS,
};

/** What an operator adds to a pod of Weir. */
const ADDITIONS: Properties = {
  extraVolumes: OBJECTS,
  extraVolumeMounts: OBJECTS,
  extraEnv: OBJECTS,
  extraEnvFrom: OBJECTS,
};

/** User id of pods, or null if the cluster chooses it. */
const USER: ValueSchema = { ...integer(1, 2 ** 31 - 1), type: ['integer', 'null'] };

/** Values that the three processes of Weir share. */
const PROCESS: Properties = {
  enabled: BOOLEAN,
  resources: OBJECT,
  disruptionBudget: object({
    maxUnavailable: { type: ['integer', 'string'], minimum: 1, pattern: '^(?:[1-9][0-9]?|100)%$' },
  }),
  ...PLACEMENT,
  affinity: OBJECT,
  topologySpreadConstraints: OBJECTS,
  priorityClassName: STRING,
  podAnnotations: STRING_MAP,
  podLabels: STRING_MAP,
  ...ADDITIONS,
  extraContainers: OBJECTS,
};

/** A Service that may be reached from outside the cluster. */
function publicService(more: Properties): ValueSchema {
  return object({
    type: enumOf('LoadBalancer', 'NodePort', 'ClusterIP'),
    externalTrafficPolicy: enumOf('Local', 'Cluster'),
    annotations: STRING_MAP,
    loadBalancerIP: STRING,
    loadBalancerClass: STRING,
    loadBalancerSourceRanges: STRINGS,
    ipFamilyPolicy: enumOf('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
    ...more,
  });
}

/** PostgreSQL or Redis for trials. */
function bundledStore(more: Properties): ValueSchema {
  return object({
    bundled: BOOLEAN,
    image: STRING,
    user: USER,
    resources: OBJECT,
    ...PLACEMENT,
    ...more,
  });
}

const VOLUME_SIZE: Properties = { size: QUANTITY, storageClass: NAME };

/** DATABASE_URL is described as that of the control plane. */
const OF_MIGRATION = { OWNER_DATABASE_URL: MIGRATE.OWNER_DATABASE_URL };

/** White space, within brackets. `\s` of ECMAScript has more characters than that of RE2, which Helm uses. */
const SPACES = String.raw` \t\n\v\f\r`;

/** The variables of processes that are secret, or those that are not. @param lowestPort 0: any free port */
function variables(
  schemas: readonly VariableSchema[],
  areSecret: boolean,
  lowestPort = 0,
): ValueSchema {
  const wanted = schemas
    .flatMap((schema) => Object.entries(schema))
    .filter(([name, variable]) => isInSecret(name, variable) === areSecret);
  return object(
    Object.fromEntries(
      wanted.map(([name, variable]) => [name, describe(name, variable, lowestPort)]),
    ),
  );
}

/** Port 0 is refused: a Service needs a known port. Only resolvers may bind a port below 1024. */
const environmentOf = (component: Component, lowestPort = 1024): ValueSchema =>
  variables([COMPONENTS[component].variables], false, lowestPort);

function describe(
  name: string,
  { description, valueSchema }: Variable<unknown>,
  lowestPort: number,
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

/** Empty, or a host, which may have a port and a path. */
const REGISTRY: ValueSchema = {
  type: 'string',
  pattern: '^(?:(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(?::[0-9]+)?(?:/[a-z0-9._-]+)*)?$',
};
const REPOSITORY: ValueSchema = {
  type: 'string',
  pattern: '^(?:[a-z0-9._-]+(?:/[a-z0-9._-]+)*)?$',
};
const TAG: ValueSchema = { type: 'string', pattern: '^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$' };

/** Images of the chart. */
const IMAGES = ['control-plane', 'resolver', 'block-page', 'migrate'];
const DIGEST: ValueSchema = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' };

const controlPlane = object({
  ...PROCESS,
  replicas: REPLICAS,
  env: environmentOf('controlPlane'),
  tlsSecret: NAME,
  feedTlsSecret: NAME,
  clientCaSecret: NAME,
  tokensSecret: NAME,
  snapshotSizeLimit: QUANTITY,
  catalogue: OBJECT,
  service: publicService({ port: PORT }),
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
  env: environmentOf('resolver', 1),
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
  env: environmentOf('blockPage'),
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
        // The condition of a chart that has this one: Helm leaves it out where it is false.
        enabled: { const: true },
        fullnameOverride: { ...NAME, maxLength: MAX_PREFIX_LENGTH },
        serviceAccountName: NAME,
        commonLabels: STRING_MAP,
        listen: enumOf('0.0.0.0', '::'),
        image: object({
          registry: REGISTRY,
          repository: REPOSITORY,
          tag: TAG,
          pullPolicy: enumOf('Always', 'IfNotPresent', 'Never'),
          pullSecrets: OBJECTS,
          digest: object(Object.fromEntries(IMAGES.map((name) => [name, DIGEST]))),
          user: USER,
        }),
        secrets: object({
          existing: NAME,
          generate: BOOLEAN,
          values: variables(
            [...Object.values(COMPONENTS).map((one) => one.variables), OF_MIGRATION],
            true,
          ),
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
