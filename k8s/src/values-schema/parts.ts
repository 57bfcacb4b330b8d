import type { ValueSchema } from '@weir/ops';

export const BOOLEAN: ValueSchema = { type: 'boolean' };
export const STRING: ValueSchema = { type: 'string' };
const STRINGS: ValueSchema = { type: 'array', items: STRING };
/** An object that Kubernetes validates. */
export const OBJECT: ValueSchema = { type: 'object' };
export const OBJECTS: ValueSchema = { type: 'array', items: OBJECT };
/** Labels, annotations, node selectors. */
export const STRING_MAP: ValueSchema = { type: 'object', additionalProperties: STRING };
export const QUANTITY: ValueSchema = {
  type: 'string',
  pattern: '^[0-9]+(?:\\.[0-9]+)?(?:[KMGTPE]i|[mkMGTPE]|[eE][0-9]+)?$',
};
export const PORT: ValueSchema = { type: 'integer', minimum: 1, maximum: 65535 };
/** Empty, or the name of an object. */
export const NAME: ValueSchema = {
  type: 'string',
  pattern: '^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)?$',
  maxLength: 253,
};

export function enumOf(...values: readonly string[]): ValueSchema {
  return { enum: values };
}

export function integer(minimum: number, maximum: number): ValueSchema {
  return { type: 'integer', minimum, maximum };
}

/** An object with these properties and no others. */
export function object(properties: Readonly<Record<string, ValueSchema>>): ValueSchema {
  return { type: 'object', properties, additionalProperties: false };
}

type Properties = Readonly<Record<string, ValueSchema>>;

const MAX_PODS = 1000;

export const REPLICAS = integer(1, MAX_PODS);

/** Scheduling of every pod. */
export const PLACEMENT: Properties = {
  nodeSelector: STRING_MAP,
  tolerations: OBJECTS,
};

/** What an operator adds to a pod of Weir. */
export const ADDITIONS: Properties = {
  extraVolumes: OBJECTS,
  extraVolumeMounts: OBJECTS,
  extraEnv: OBJECTS,
  extraEnvFrom: OBJECTS,
};

/** User id of pods, or null if the cluster chooses it. */
export const USER: ValueSchema = { ...integer(1, 2 ** 31 - 1), type: ['integer', 'null'] };

/** Values that the three processes of Weir share. */
export const PROCESS: Properties = {
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

/** A Service for subscribers. */
export function publicService(more: Properties): ValueSchema {
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
export function bundledStore(more: Properties): ValueSchema {
  return object({
    bundled: BOOLEAN,
    image: STRING,
    user: USER,
    resources: OBJECT,
    ...PLACEMENT,
    ...more,
  });
}

export const VOLUME_SIZE: Properties = { size: QUANTITY, storageClass: NAME };
