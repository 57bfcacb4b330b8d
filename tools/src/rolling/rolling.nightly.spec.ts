import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { print } from '../command.js';
import { renderRolling, runRolling } from './run.js';

it('no query, change or block page is lost while every process is restarted under load', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-rolling-'));
  const result = await runRolling({
    previous: null,
    folder,
    rounds: 1,
    // So long the load balancers, which run in this process, may stand still.
    drainSeconds: 10,
  });
  print(renderRolling(result));
  expect(result.violations).toEqual([]);
  expect(result.restarts).toBe(6);
  // There was something that could have been lost.
  expect(result.changes).toBeGreaterThan(20);
  expect(result.pages).toBeGreaterThan(20);
  if (result.queries !== null) expect(result.queries.sent).toBeGreaterThan(500);
  rmSync(folder, { recursive: true });
}, 600_000);
