import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { codeBlocks } from './markdown.js';
import { REPOSITORY_FOLDER } from '../paths.js';
import { render } from '../render/render.js';
import { chartValues, ciValues, overlay, type Values } from '../render/values.js';

const DOCUMENTS = ['docs/operations/install-helm.md', 'k8s/weir/README.md'];
const read = (path: string): string => readFileSync(join(REPOSITORY_FOLDER, path), 'utf8');

function hasKey(values: Values, path: string): boolean {
  const [key, ...rest] = path.split('.');
  if (!(key in values) || rest.length === 0) return key in values;
  return key === 'env' || hasKey(values[key] as Values, rest.join('.'));
}

describe.each(DOCUMENTS)('%s', (path) => {
  const text = read(path);

  it('sets values that there are', () => {
    const set = [...text.matchAll(/--set '?([\w.]+)=/g)].map(([, key]) => key);
    expect(set.filter((key) => !hasKey(chartValues(), key))).toEqual([]);
  });
});

describe('the values of the documents', () => {
  const blocks = DOCUMENTS.flatMap((path) => codeBlocks('yaml', read(path)));

  it('are found', () => {
    expect(blocks.length).toBeGreaterThan(4);
  });

  it.each(blocks)('render: %s', (block) => {
    const values = overlay(ciValues('minimal'), parse(block) as Values);
    expect(render({ values }).length).toBeGreaterThan(0);
  });
});
