import { expect, it } from 'vitest';
import { dashboard } from './dashboard.js';
import { ROWS } from './rows.js';

interface Placed {
  readonly id: number;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
}

it('is what the file of the chart says', async () => {
  const json = `${JSON.stringify(dashboard(), null, 2)}\n`;
  await expect(json).toMatchFileSnapshot('../../weir/files/dashboard.json');
});

const { panels } = dashboard() as { readonly panels: readonly Placed[] };

it('has each panel once, inside the grid, and none upon another', () => {
  expect(panels.map(({ id }) => id)).toEqual(panels.map((_, i) => i + 1));
  const taken = new Set<string>();
  for (const { gridPos } of panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`)).toBe(false);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

it('calls each series by labels that its query leaves', () => {
  for (const { panels: row } of ROWS) {
    for (const [expr, legend] of row.flatMap(({ queries }) => queries)) {
      const kept = /by \(([^)]*)\)/.exec(expr)?.[1].split(', ') ?? ['job', 'instance'];
      const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      for (const label of named) expect(kept, expr).toContain(label);
    }
  }
});
