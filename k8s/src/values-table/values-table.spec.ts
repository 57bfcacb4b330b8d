import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHART_FOLDER } from '../paths.js';
import { documentedValues, valuesTable } from './values-table.js';

const read = (name: string): string => readFileSync(join(CHART_FOLDER, name), 'utf8');

it('is the page of values in the chart', async () => {
  const page = `# Values of the chart\n\nMade from values.yaml by a test.\n\n${valuesTable(read('values.yaml'))}`;
  await expect(page).toMatchFileSnapshot('../../weir/VALUES.md');
});

describe('documentedValues', () => {
  it('uses the comment above a key for the key and everything in it', () => {
    expect(
      documentedValues('# About\n# the file.\n\na:\n  # What b\n  # is.\n  b: { c: 1 }\n'),
    ).toEqual([{ key: 'a.b', default: { c: 1 }, description: 'What b is.' }]);
  });

  it('uses the comment above the first key for the first key only', () => {
    expect(
      documentedValues('# About the file.\n\n# A.\na: 1\nb:\n  # C.\n  c: 2\n  # D.\n  d: []\n'),
    ).toEqual([
      { key: 'a', default: 1, description: 'A.' },
      { key: 'b.c', default: 2, description: 'C.' },
      { key: 'b.d', default: [], description: 'D.' },
    ]);
  });

  it('throws an error that names a value without a comment', () => {
    expect(() => documentedValues('a:\n  # B.\n  b: 1\n  c: 2\n')).toThrow('a.c has no comment');
  });
});
