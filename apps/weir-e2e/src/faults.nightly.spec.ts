import { expect, it } from 'vitest';
import { runFaults } from './testing/run-faults.js';

it.each([
  ['of seed 1', ['--seed', '1']],
  ['of a random seed', []],
])(
  'loses no acknowledged change and answers every query while processes are killed and stopped: changes %s',
  async (_seed, options) => {
    const { code, output } = await runFaults('--short', ...options);
    expect(output).toMatch(/OK, seed \d+/);
    expect(code).toBe(0);
  },
);
