import { Ajv, type ValidateFunction } from 'ajv';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { KubernetesObject } from './kubernetes-object.js';

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
export function oldestKubernetesErrors(object: KubernetesObject): readonly string[] {
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
