import { expect, it } from 'vitest';
import { JOBS, PHASES } from './jobs.js';

it.each([
  ['mix', 0.2],
  ['forwarded', 1],
])('the job %s never asks a forwarded name twice, in whatever phase', (job, share) => {
  const { names: namesOf } = JOBS.find(({ name }) => name === job) ?? {};
  const forwarded = PHASES.flatMap((phase) => {
    const names = Array.from({ length: 1_000 }, () => '');
    let i = 0;
    for (const name of namesOf?.(phase) ?? []) {
      names[i++] = name;
      if (i === names.length) break;
    }
    return names.filter((name) => name.endsWith('.new.example'));
  });
  expect(forwarded).toHaveLength(PHASES.length * 1_000 * share);
  expect(new Set(forwarded).size).toBe(forwarded.length);
});
