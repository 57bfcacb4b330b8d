import * as client from '@kubernetes/client-node';

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
export function unknownFields(value: unknown, type: string, path = ''): string[] {
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
    { getAttributeTypeMap?: () => Attribute[] } | undefined;
  const attributes = model?.getAttributeTypeMap?.();
  return attributes && new Map(attributes.map(({ baseName, type: below }) => [baseName, below]));
}
