import { parseVariables, type ValueSchema, type Variable } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { COMPONENTS, secretVariables } from '../components.js';
import {
  chartValues,
  checkValues,
  CI_VALUES,
  ciValues,
  overlay,
  type Values,
} from '../testing/values.js';
import { valuesSchema } from './values-schema.js';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

it('is the same as values.schema.json', async () => {
  await expect(json(valuesSchema(chartValues()))).toMatchFileSnapshot(
    '../../weir/values.schema.json',
  );
});

it('lists the secret variables for the templates in secret-variables.json', async () => {
  const file = '../../weir/files/secret-variables.json';
  await expect(json(secretVariables())).toMatchFileSnapshot(file);
});

const propertiesOf = (schema: ValueSchema): Record<string, ValueSchema> =>
  (schema['properties'] ?? {}) as Record<string, ValueSchema>;

/** Keys that Helm, or a chart that has this one, adds to the values. */
const OF_HELM = ['global', 'enabled'];

describe('values.yaml', () => {
  /** Objects whose keys the operator chooses. */
  const open = /^(?:global|secrets\.values|\w+\.env|.*\.(?:resources|pages|labels|digest))$/;

  it.each(CI_VALUES)('is accepted with the %s values', (name) => {
    expect(() => checkValues(overlay(chartValues(), ciValues(name)))).not.toThrow();
  });

  it('has exactly the keys of the schema', () => {
    const compare = (path: string, schema: ValueSchema, values: Values): void => {
      const properties = propertiesOf(schema);
      const inner =
        path === ''
          ? Object.keys(properties).filter((key) => !OF_HELM.includes(key))
          : Object.keys(properties);
      expect(Object.keys(values).sort(), path).toEqual(inner.sort());
      for (const [key, value] of Object.entries(values)) {
        const below = path === '' ? key : `${path}.${key}`;
        const isOpen = open.test(below) || !('properties' in properties[key]);
        if (!isOpen) compare(below, properties[key], value as Values);
      }
    };
    compare('', valuesSchema(chartValues()), chartValues());
  });
});

describe.each(Object.entries(COMPONENTS))('env of %s', (component, { variables }) => {
  const entries = Object.entries<Variable<unknown>>(variables);
  const env = propertiesOf(
    propertiesOf(propertiesOf(valuesSchema(chartValues()))[component])['env'],
  );
  const secrets = propertiesOf(
    propertiesOf(propertiesOf(valuesSchema(chartValues()))['secrets'])['values'],
  );

  it('has each variable of the process, or secrets.values has it', () => {
    for (const [name] of entries) expect([name in env, name in secrets]).toContain(true);
    const known = new Set(entries.map(([name]) => name));
    expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([]);
  });

  it('has no secret variable', () => {
    expect(Object.keys(env).filter((name) => name in secrets)).toEqual([]);
  });

  it('accepts the default of each variable', () => {
    for (const [name, { default: text, parse }] of entries) {
      if (text === undefined || !(name in env)) continue;
      const value = typedValue(env[name], text);
      expect(() => parse(text)).not.toThrow();
      expect(() => checkEnv(component, { [name]: value }), `${name}: ${text}`).not.toThrow();
    }
  });

  it('has values in values.yaml that the process accepts', () => {
    const { env: given } = chartValues()[component] as { env: Record<string, unknown> };
    const texts = Object.entries(given).map(([name, value]) => [name, String(value)] as const);
    const chosen = Object.fromEntries(entries.filter(([name]) => name in given));
    expect(Object.keys(parseVariables(chosen, Object.fromEntries(texts)))).toEqual(
      Object.keys(chosen),
    );
    expect(Object.keys(given).filter((name) => !(name in chosen))).toEqual([]);
  });
});

/** Converts the text of an environment variable to its type in the values. */
function typedValue(schema: ValueSchema, text: string): unknown {
  switch (schema['type']) {
    case 'integer':
    case 'number':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'array':
      return text.split(',');
    case 'object':
      return JSON.parse(text);
    default:
      return text;
  }
}

function checkEnv(component: string, env: Values): void {
  checkValues(overlay(chartValues(), { [component]: { env } }));
}
