import { expect, it } from 'vitest';
import { JOBS, PHASES } from './jobs.js';

it('the mix never asks a forwarded name twice, in whatever phase', () => {
  const mix = JOBS.find(({ name }) => name === 'mix');
  const forwarded = PHASES.flatMap((phase) => {
    const names = Array.from({ length: 1_000 }, () => '');
    let i = 0;
    for (const name of mix?.names(phase) ?? []) {
      names[i++] = name;
      if (i === names.length) break;
    }
    return names.filter((name) => name.endsWith('.new.example'));
  });
  expect(forwarded).toHaveLength(PHASES.length * 200);
  expect(new Set(forwarded).size).toBe(forwarded.length);
});
