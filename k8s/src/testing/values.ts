import { Ajv, type ErrorObject } from 'ajv';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART_FOLDER } from '../paths.js';
import { valuesSchema } from '../values-schema/values-schema.js';

/** The chart or its schema refuses the values. The message says why. */
export class ChartError extends Error {
  override readonly name = 'ChartError';
}

export type Values = Readonly<Record<string, unknown>>;

/** Merges values as Helm does: `over` overrides `under`, objects are merged, null removes a key. */
export function overlay(under: Values, over: Values): Values {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    if (value === null) Reflect.deleteProperty(merged, key);
    else merged[key] = isValues(value) && isValues(below) ? overlay(below, value) : value;
  }
  return merged;
}

export function chartValues(): Values {
  return parse(readFileSync(join(CHART_FOLDER, 'values.yaml'), 'utf8')) as Values;
}

/** Names of the values files of `ci/`: minimal, trial, full … */
export const CI_VALUES: readonly string[] = readdirSync(join(CHART_FOLDER, 'ci')).map((file) =>
  file.replace('-values.yaml', ''),
);

/** A values file of `ci/`. */
export function ciValues(name: string): Values {
  return parse(readFileSync(join(CHART_FOLDER, 'ci', `${name}-values.yaml`), 'utf8')) as Values;
}

let validate: ReturnType<Ajv['compile']> | undefined;

/** Validates values against the schema, as Helm does before it renders. @throws ChartError with one line per error. */
export function checkValues(values: Values): void {
  validate ??= new Ajv({ allErrors: true, allowUnionTypes: true }).compile(
    valuesSchema(chartValues()),
  );
  if (validate(values)) return;
  throw new ChartError((validate.errors ?? []).map(explain).join('\n'));
}

function explain({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty } = params as { additionalProperty?: string };
  const what = additionalProperty === undefined ? '' : ` "${additionalProperty}"`;
  return `${instancePath.slice(1).replaceAll('/', '.') || '(root)'}: ${message ?? ''}${what}`;
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
