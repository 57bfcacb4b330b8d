import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HELM_VERSIONS } from '@weir/tools/release/helm-program';
import { render } from '../testing/render.js';
import { chartValues, ciValues, overlay, type Values } from '../testing/values.js';
import { CHART_PAGES, codeBlocks, PAGES, readPage } from './testing/markdown.js';

const VALUES = chartValues();

function hasKey(values: Values, path: string): boolean {
  const [key, ...rest] = path.split('.');
  if (!(key in values) || rest.length === 0) return key in values;
  return key === 'env' || hasKey(values[key] as Values, rest.join('.'));
}

describe.each(PAGES)('%s', (path) => {
  const text = readPage(path);

  it('names values that there are', () => {
    const set = [...text.matchAll(/--set '?([\w.]+)=/g)].map(([, key]) => key);
    const parts = Object.keys(VALUES).join('|');
    const inline = [...text.matchAll(new RegExp(`\`((?:${parts})(?:\\.[A-Za-z]+)+)\`?`, 'g'))];
    const named = inline.map(([, key]) => key).filter((key) => !FILES.includes(key));
    const open = (key: string): boolean => key.startsWith('secrets.values.');
    expect([...set, ...named].filter((key) => !open(key) && !hasKey(VALUES, key))).toEqual([]);
  });
});

/** Files whose names look like values. */
const FILES = ['catalogue.yaml', 'secrets.json', 'migration.sql', 'resolver.arpa'];

describe.each(HELM_VERSIONS)('the values of the documents with Helm %i', (version) => {
  const isValues = (block: string): boolean => {
    const parsed = parse(block) as unknown;
    const keys = typeof parsed === 'object' && parsed !== null ? Object.keys(parsed) : [];
    return keys.length > 0 && keys.every((key) => key in VALUES);
  };
  const blocks = PAGES.flatMap((path) => {
    const all = codeBlocks('yaml', readPage(path));
    return CHART_PAGES.includes(path) ? all : all.filter(isValues);
  });

  it('are found', () => {
    expect(blocks.length).toBeGreaterThan(4);
  });

  it.each(blocks)('render for an install and for an upgrade: %s', (block) => {
    const values = overlay(ciValues('minimal'), parse(block) as Values);
    for (const isUpgrade of [false, true]) {
      expect(render({ values, isUpgrade }, version).length).toBeGreaterThan(0);
    }
  });
});
