import fc from 'fast-check';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HELM_VERSIONS, type HelmVersion } from '@weir/tools/release/helm-program';
import { runHelm } from '../testing/render.js';
import { ChartError, chartValues } from '../testing/values.js';
import { valuesSchema } from './values-schema.js';

/** Every pattern of the schema, for values and for names of values. */
function patternsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const names = keyword === 'patternProperties' ? Object.keys(value as object) : [];
    return keyword === 'pattern' ? [value as string] : [...names, ...patternsOf(value)];
  });
}

const PATTERNS = [...new Set(patternsOf(valuesSchema(chartValues())))];

/** Texts that match a pattern, texts that nearly do, and others. */
const textFor = (pattern: string): fc.Arbitrary<string> => {
  const matching = fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: 80 });
  const changed = fc
    .tuple(
      matching,
      fc.nat(80),
      fc.nat(1),
      // U+2000 is white space in ECMAScript only.
      fc.constantFrom('', '\n', ' ', '\u2000', '.', ':', '/', '0', 'Z', 'é', '٣'),
    )
    .map(([text, at, cut, more]) => text.slice(0, at) + more + text.slice(at + cut));
  return fc.oneof(matching, changed, fc.string({ maxLength: 10, unit: 'grapheme' }));
};
/** A few texts for each pattern. */
const texts = fc.tuple(...PATTERNS.map((pattern) => fc.array(textFor(pattern), { maxLength: 8 })));

let chart: string;
beforeAll(() => {
  chart = mkdtempSync(join(tmpdir(), 'weir-patterns-'));
  mkdirSync(join(chart, 'templates'));
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: patterns\nversion: 0.1.0\n');
  const properties = PATTERNS.map((pattern, i) => [`p${i}`, { items: { pattern } }] as const);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: Object.fromEntries(properties),
  };
  writeFileSync(join(chart, 'values.schema.json'), JSON.stringify(schema));
});
afterAll(() => rmSync(chart, { recursive: true }));

/** `p3.1`: Helm says that the second text for the fourth pattern does not match. */
function refusedBy(version: HelmVersion, given: readonly (readonly string[])[]): string[] {
  const values = Object.fromEntries(given.map((list, i) => [`p${i}`, list]));
  try {
    runHelm(version, ['template', 'patterns', chart, '--values=-'], values);
    return [];
  } catch (error) {
    if (!(error instanceof ChartError)) throw error;
    const places = error.message.matchAll(/^ *- (?:at '\/)?(p\d+)[./](\d+)'?: .*pattern/gm);
    return [...places].map(([, name, index]) => `${name}.${index}`).sort();
  }
}

const refusedByEcmaScript = (given: readonly (readonly string[])[]): string[] =>
  given
    .flatMap((list, i) => {
      const pattern = new RegExp(PATTERNS[i], 'u');
      return list.flatMap((text, j) => (pattern.test(text) ? [] : [`p${i}.${j}`]));
    })
    .sort();

describe('the patterns of the schema', () => {
  it('are found', () => {
    expect(PATTERNS.length).toBeGreaterThan(15);
  });

  it.each(HELM_VERSIONS)('mean to Helm %i what they mean to ECMAScript', (version) => {
    const isSame = (given: readonly (readonly string[])[]): void => {
      expect(refusedBy(version, given)).toEqual(refusedByEcmaScript(given));
    };
    fc.assert(fc.property(texts, isSame), { numRuns: 20 });
  });
});
