import type { ValueSchema } from '@weir/ops';
import {
  BOOLEAN,
  NAME,
  OBJECT,
  OBJECTS,
  object,
  oneOf,
  PORT,
  TEXT,
  TEXT_BY_NAME,
  whole,
} from './kinds.js';
import { bundledStore, PLACEMENT, PROCESS, publicService, REPLICAS, VOLUME_SIZE } from './parts.js';
import { environmentSchema, secretsSchema } from './variables.js';

const controlPlane = object({
  ...PROCESS,
  replicas: REPLICAS,
  env: environmentSchema('controlPlane'),
  tlsSecret: NAME,
  catalogue: OBJECT,
  service: object({
    type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
    port: PORT,
    annotations: TEXT_BY_NAME,
  }),
  ingress: {
    ...object({
      enabled: BOOLEAN,
      className: NAME,
      host: TEXT,
      tlsSecret: NAME,
      annotations: TEXT_BY_NAME,
    }),
    if: { properties: { enabled: { const: true } } },
    then: { properties: { host: { type: 'string', minLength: 1 } } },
  },
});

const resolver = object({
  ...PROCESS,
  kind: oneOf('StatefulSet', 'DaemonSet'),
  replicas: REPLICAS,
  env: environmentSchema('resolver'),
  tlsSecret: NAME,
  persistence: object({ enabled: BOOLEAN, ...VOLUME_SIZE, hostPath: TEXT }),
  autoscaling: object({
    enabled: BOOLEAN,
    minReplicas: REPLICAS,
    maxReplicas: REPLICAS,
    targetCpuPercent: whole(1, 100),
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

/** JSON Schema of the chart's values. The variables come from the configuration schemas of the processes. */
export function valuesSchema(): ValueSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Weir chart',
    ...object({
      // Helm adds `global` to the values of every chart.
      global: OBJECT,
      fullnameOverride: NAME,
      serviceAccountName: NAME,
      listen: oneOf('0.0.0.0', '::'),
      image: object({
        registry: TEXT,
        repository: TEXT,
        tag: TEXT,
        pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
        pullSecrets: OBJECTS,
        user: whole(1, 2 ** 31 - 1),
      }),
      secrets: object({ existing: NAME, values: secretsSchema() }),
      controlPlane,
      migration: object({
        backoffLimit: whole(0, 1000),
        deadlineSeconds: whole(1, 1_000_000),
        resources: OBJECT,
        ...PLACEMENT,
      }),
      resolver,
      blockPage,
      networkPolicy: object({
        enabled: BOOLEAN,
        metricsFrom: OBJECTS,
        managementFrom: OBJECTS,
        feedFrom: OBJECTS,
      }),
      monitoring: object({
        serviceMonitor: object({
          enabled: BOOLEAN,
          interval: { type: 'string', pattern: '^[0-9]+(?:ms|s|m)$' },
          labels: TEXT_BY_NAME,
        }),
        prometheusRule: object({ enabled: BOOLEAN, labels: TEXT_BY_NAME }),
        dashboard: object({ enabled: BOOLEAN, labels: TEXT_BY_NAME }),
      }),
      postgresql: bundledStore(VOLUME_SIZE),
      redis: bundledStore({}),
    }),
  };
}
