import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const [capacity, performance] = [read('capacity.md'), read('performance.md')];

/** A number of a row in the tables behind a heading. */
function measured(heading: string, row: string, column: number): number {
  const [, tables = ''] = performance.split(`${heading}\n`);
  const [, cells = ''] = new RegExp(`^\\| ${row} +\\|(.*)$`, 'm').exec(tables) ?? [];
  return Number(cells.split('|')[column]);
}

it('the pods of docs/capacity.md follow from measured costs', () => {
  const forwardedUs = measured('### Forwarded questions', 'Weir', 1);
  const answerUs = measured('## At full size', 'full size', 0);
  expect([forwardedUs, answerUs]).toEqual([14, 5.2]);
  expect(capacity).toContain(`k = ${forwardedUs} µs`);
  expect(capacity).toContain(`c = ${answerUs} µs`);
  const row = /^\| (\d+) M +\| +([\d,]+) \| +([\d,]+) \| +(\d+) \| +(\d+) \| +(\d+) \|$/gm;
  const rows = [...capacity.matchAll(row)];
  expect(rows).toHaveLength(2);
  for (const [, ...cells] of rows) {
    const [millions, queries, forwarded, lanes, pods, lanesOfPod] = cells.map((one) =>
      Number(one.replaceAll(',', '')),
    );
    expect(queries).toBe(millions * 1e6 * 0.2);
    expect(forwarded).toBe(queries * 0.2);
    const cores = ((queries - forwarded) * answerUs + forwarded * forwardedUs) / 1e6;
    expect(lanes).toBe(Math.ceil(cores / 0.5));
    expect(pods).toBe(3 * Math.ceil(lanes / lanesOfPod / 3));
  }
});
