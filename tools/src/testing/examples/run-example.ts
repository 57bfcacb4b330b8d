import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** Runs vitest with an example of this folder. */
export function runExample(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  ...args: readonly string[]
): { status: number | null; output: string } {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--root', 'tools/src/testing/examples'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...vitest, name, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...environment },
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}
