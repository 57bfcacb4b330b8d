import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { root, runFaults, SUITE } from './run-faults.js';

/** The defects that the suite can put into the processes, as its help names them. */
function defects(): string[] {
  const help = execFileSync(process.execPath, [SUITE, '--help'], { cwd: root, encoding: 'utf8' });
  const list = /The defects:\n((?: {18}.*\n)+)/.exec(help)?.[1] ?? '';
  return list.trim().split(/\n */);
}

it.each(defects())('finds a planted defect: %s', async (name) => {
  const { code, output } = await runFaults('--plant', name);
  expect(output).toContain(`FOUND: ${name}`);
  expect(output).not.toContain('NOT FOUND');
  expect(code).toBe(0);
});
