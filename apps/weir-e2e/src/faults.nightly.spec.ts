import { expect, it } from 'vitest';
import { runFaults } from './testing/run-faults.js';

it('loses no acknowledged change and answers every query while processes are killed and stopped', async () => {
  const { code, output } = await runFaults('--short');
  expect(output).toMatch(/OK, seed \d+/);
  expect(code).toBe(0);
});
