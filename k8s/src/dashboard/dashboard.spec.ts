import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY_FOLDER } from '../paths.js';
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

it('is the same as dashboard.json in the chart', async () => {
  const json = `${JSON.stringify(dashboard(), null, 2)}\n`;
  await expect(json).toMatchFileSnapshot('../../weir/files/dashboard.json');
});

const { panels } = dashboard() as { readonly panels: readonly Placed[] };

it('has each panel once and inside the grid, and no two panels overlap', () => {
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

it('names each series by labels that the query keeps', () => {
  for (const { panels: row } of ROWS) {
    for (const [expr, legend] of row.flatMap(({ queries }) => queries)) {
      const kept = /by \(([^)]*)\)/.exec(expr)?.[1].split(', ') ?? ['job', 'instance'];
      const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      for (const label of named) expect(kept, expr).toContain(label);
    }
  }
});

it('has every panel that the runbook names', () => {
  const pages = globSync('docs/operations/{runbook,alerts-*}.md', { cwd: REPOSITORY_FOLDER });
  const runbook = pages.map((page) => readFileSync(join(REPOSITORY_FOLDER, page), 'utf8')).join();
  const lists = runbook.replaceAll(/\s+/g, ' ').matchAll(/panels? ("[^"]+"(?: and "[^"]+")*)/g);
  const named = [...lists].flatMap(([, list]) => [...list.matchAll(/"([^"]+)"/g)]);
  expect(named.length).toBeGreaterThan(8);
  const titles = ROWS.flatMap((row) => row.panels.map(({ title }) => title));
  for (const [, title] of named) expect(titles).toContain(title);
});
