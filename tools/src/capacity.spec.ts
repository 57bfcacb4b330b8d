import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const [capacity, performance] = [read('capacity.md'), read('performance.md')];

/** The first number of a row in the tables behind a heading. */
function measured(heading: string, row: string): number {
  const [, tables = ''] = performance.split(`${heading}\n`);
  const [, cell] = new RegExp(`^\\| ${row} +\\| +([\\d.]+) \\|`, 'm').exec(tables) ?? [];
  return Number(cell);
}

it('the pods of docs/capacity.md follow from measured rates', () => {
  const forwardedASecond = measured('### Forwarded questions', 'Weir') * 1_000;
  const answerUs = measured('## At full size', 'full size');
  expect([forwardedASecond, answerUs]).toEqual([71_000, 5.3]);
  const rows = [
    ...capacity.matchAll(/^\| (\d+) M +\| +([\d,]+) \| +([\d,]+) \| +(\d+) \| +(\d+) \|$/gm),
  ];
  expect(rows).toHaveLength(2);
  for (const [, ...cells] of rows) {
    const [millions, queries, forwarded, pods, lanes] = cells.map((one) =>
      Number(one.replaceAll(',', '')),
    );
    expect(queries).toBe(millions * 1e6 * 0.2);
    expect(forwarded).toBe(queries * 0.2);
    expect(pods).toBe(3 * Math.ceil(forwarded / forwardedASecond / 0.5 / 3));
    expect(lanes).toBe(Math.ceil(((queries - forwarded) * answerUs) / 1e6 / 0.5 / pods));
  }
});
