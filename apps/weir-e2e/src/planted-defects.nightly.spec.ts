import { DEFECTS } from '@weir/tools/faults/plant/plants';
import { expect, it } from 'vitest';
import { runFaults } from './testing/run-faults.js';

it.each(Object.keys(DEFECTS))('finds a planted defect: %s', async (name) => {
  const { code, output } = await runFaults('--plant', name);
  expect(output).toContain(`FOUND: ${name}`);
  expect(output).not.toContain('NOT FOUND');
  expect(code).toBe(0);
});
