import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import * as client from '@kubernetes/client-node';
import { Ajv, type ValidateFunction } from 'ajv';
import { DaemonSet, Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Pod, Secret, Service } from 'kubernetes-models/v1';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type KubernetesObject, titleOf } from './kubernetes-object.js';

interface Attribute {
  readonly baseName: string;
  readonly type: string;
}

/** Fields of the Prometheus Operator's objects that the chart uses. The Kubernetes client does not have them. */
const OPERATOR_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PrometheusRule: {
    apiVersion: 'string',
    kind: 'string',
    metadata: 'V1ObjectMeta',
    spec: 'PrometheusRuleSpec',
  },
  PrometheusRuleSpec: { groups: 'Array<RuleGroup>' },
  RuleGroup: { name: 'string', rules: 'Array<Rule>' },
  Rule: { alert: 'string', expr: 'string', for: 'string', labels: 'any', annotations: 'any' },
  ServiceMonitor: {
    apiVersion: 'string',
    kind: 'string',
    metadata: 'V1ObjectMeta',
    spec: 'ServiceMonitorSpec',
  },
  ServiceMonitorSpec: { selector: 'V1LabelSelector', endpoints: 'Array<Endpoint>' },
  Endpoint: {
    port: 'string',
    path: 'string',
    interval: 'string',
    relabelings: 'Array<Relabeling>',
  },
  Relabeling: { targetLabel: 'string', replacement: 'string' },
};

/** Paths in `value` that its class does not have. Kubernetes would drop them silently or refuse them. */
function unknownFields(value: unknown, type: string, path = ''): string[] {
  const item = /^Array<(.+)>$/.exec(type)?.[1];
  if (item !== undefined && Array.isArray(value)) {
    return value.flatMap((one, i) => unknownFields(one, item, `${path}[${i}]`));
  }
  const fields = fieldsOf(type);
  if (fields === undefined || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => {
    const place = `${path}.${name}`;
    const known = fields.get(name);
    return known === undefined ? [place] : unknownFields(below, known, place);
  });
}

/** Field → type of the field. Undefined if the type has no fields, such as a string. */
function fieldsOf(type: string): ReadonlyMap<string, string> | undefined {
  if (type in OPERATOR_FIELDS) return new Map(Object.entries(OPERATOR_FIELDS[type]));
  const model = (client as unknown as Record<string, unknown>)[type] as
    | { getAttributeTypeMap?: () => Attribute[] }
    | undefined;
  const attributes = model?.getAttributeTypeMap?.();
  return attributes && new Map(attributes.map(({ baseName, type: below }) => [baseName, below]));
}

interface Model {
  new (data: never): { validate(): void };
}

/** API version → kind → the model with its schema. */
const MODELS: Readonly<Record<string, Readonly<Record<string, Model>>>> = {
  'apps/v1': { DaemonSet, Deployment, StatefulSet },
  'autoscaling/v2': { HorizontalPodAutoscaler },
  'batch/v1': { Job },
  'monitoring.coreos.com/v1': { PrometheusRule, ServiceMonitor },
  'networking.k8s.io/v1': { Ingress, NetworkPolicy },
  'policy/v1': { PodDisruptionBudget },
  v1: { ConfigMap, Pod, Secret, Service },
};

/** The class with the known fields: `V1Deployment` of the Kubernetes client, or one of `OPERATOR_FIELDS`. */
function fieldsClass({ apiVersion, kind }: KubernetesObject): string {
  if (kind in OPERATOR_FIELDS) return kind;
  return `${apiVersion.replace(/^.*\//, '').toUpperCase()}${kind}`;
}

interface Schema {
  readonly properties?: object;
  readonly oneOf?: readonly Schema[];
  readonly [keyword: string]: unknown;
}

const require = createRequire(import.meta.url);
/** The package has no export for its schemas. */
const MODELS_FOLDER = dirname(dirname(require.resolve('kubernetes-models-1.27/v1')));
const MACHINERY_FOLDER = join(MODELS_FOLDER, 'node_modules/@kubernetes-models/apimachinery');

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });

/** One message for each fault by the schemas of Kubernetes 1.27.1; a field that they do not have is a fault. */
function oldestKubernetesErrors(object: KubernetesObject): readonly string[] {
  const validate = validatorOf(schemaName(object));
  if (validate(object)) return [];
  return (validate.errors ?? []).map(({ instancePath, message = '', params }) => {
    const { additionalProperty: field } = params as { readonly additionalProperty?: string };
    const path = instancePath.replaceAll('/', '.');
    return field === undefined ? `${path} ${message}` : `${path}.${field} does not exist`;
  });
}

/** `apps/v1` and `Deployment` → `io.k8s.api.apps.v1.Deployment`. */
function schemaName({ apiVersion, kind }: KubernetesObject): string {
  const [version, group = 'core'] = apiVersion.split('/').toReversed();
  return `io.k8s.api.${group.split('.')[0]}.${version}.${kind}`;
}

function validatorOf(name: string): ValidateFunction {
  addSchema(name);
  return ajv.getSchema(name) as ValidateFunction;
}

/** Adds a schema and those that it refers to. */
function addSchema(name: string): void {
  if (name in ajv.schemas) return;
  const file = `${name.replaceAll(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase())}.js`;
  const folder = name.startsWith('io.k8s.apimachinery.') ? MACHINERY_FOLDER : MODELS_FOLDER;
  const code = readFileSync(join(folder, '_schemas', file), 'utf8');
  const [, text] = /^const schema = (\{.*?^\});$/ms.exec(code) ?? [];
  ajv.addSchema(JSON.parse(text, tighten) as Schema, name);
  for (const [, other] of text.matchAll(/"\$ref": "([^"#]+)#"/g)) addSchema(other);
}

/** For `JSON.parse`: takes neither fields that the schema does not name, nor null for what is left out. */
function tighten(_key: string, schema: unknown): unknown {
  const { properties, additionalProperties, oneOf } = (schema ?? {}) as Schema;
  if (oneOf?.at(-1)?.type === 'null') return oneOf[0];
  const isClosed = typeof properties === 'object' && additionalProperties === undefined;
  return isClosed ? { ...(schema as Schema), additionalProperties: false } : schema;
}

/** API groups that are part of Kubernetes have no dot, or end in this. */
const isOfKubernetes = ({ apiVersion }: KubernetesObject): boolean =>
  !apiVersion.includes('.') || apiVersion.split('/')[0].endsWith('.k8s.io');

/**
 * One message for each error that Kubernetes 1.27 or 1.36 would find in an object: wrong types, missing and unknown
 * fields.
 */
export function validationErrors(object: KubernetesObject): readonly string[] {
  const model = MODELS[object.apiVersion]?.[object.kind] as Model | undefined;
  const title = titleOf(object);
  if (model === undefined) return [`${title}: ${object.apiVersion} has no model in validate.ts`];
  const unknown = unknownFields(object, fieldsClass(object)).map(
    (path) => `${path} does not exist`,
  );
  const newest = [...unknown, ...schemaErrors(new model(object as never))];
  const oldest = isOfKubernetes(object) ? oldestKubernetesErrors(object) : [];
  return [
    ...newest.map((message) => `${title}: ${message}`),
    ...oldest.map((message) => `${title}, Kubernetes 1.27: ${message}`),
  ];
}

function schemaErrors(model: { validate(): void }): string[] {
  try {
    model.validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
