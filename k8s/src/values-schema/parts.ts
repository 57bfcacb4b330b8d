import type { ValueSchema } from '@weir/ops';
import {
  BOOLEAN,
  NAME,
  OBJECT,
  OBJECTS,
  object,
  oneOf,
  QUANTITY,
  TEXT,
  TEXT_BY_NAME,
  TEXTS,
  whole,
} from './kinds.js';

type Properties = Readonly<Record<string, ValueSchema>>;

const MAX_PODS = 1000;

export const REPLICAS = whole(1, MAX_PODS);

/** Scheduling of every pod. */
export const PLACEMENT: Properties = {
  nodeSelector: TEXT_BY_NAME,
  tolerations: OBJECTS,
};

/** Values that the three processes of Weir share. */
export const PROCESS: Properties = {
  enabled: BOOLEAN,
  resources: OBJECT,
  disruptionBudget: object({
    maxUnavailable: { type: ['integer', 'string'], minimum: 1, pattern: '^[0-9]{1,3}%$' },
  }),
  ...PLACEMENT,
  affinity: OBJECT,
  topologySpreadConstraints: OBJECTS,
  priorityClassName: TEXT,
  podAnnotations: TEXT_BY_NAME,
  podLabels: TEXT_BY_NAME,
  extraVolumes: OBJECTS,
  extraVolumeMounts: OBJECTS,
};

/** A Service for subscribers. */
export function publicService(more: Properties): ValueSchema {
  return object({
    type: oneOf('LoadBalancer', 'NodePort', 'ClusterIP'),
    externalTrafficPolicy: oneOf('Local', 'Cluster'),
    annotations: TEXT_BY_NAME,
    loadBalancerIP: TEXT,
    loadBalancerClass: TEXT,
    loadBalancerSourceRanges: TEXTS,
    ipFamilyPolicy: oneOf('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
    ...more,
  });
}

/** PostgreSQL or Redis for trials. */
export function bundledStore(more: Properties): ValueSchema {
  const user = whole(1, 2 ** 31 - 1);
  return object({ bundled: BOOLEAN, image: TEXT, user, resources: OBJECT, ...PLACEMENT, ...more });
}

export const VOLUME_SIZE: Properties = { size: QUANTITY, storageClass: NAME };
