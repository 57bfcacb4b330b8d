import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Global setup: compiles what tests start as processes and threads, and builds the console. This is quick when both are
 * up to date.
 */
export default function setup(): void {
  const tsc = `${ROOT}/node_modules/@typescript/native/bin/tsc`;
  for (const args of [[tsc, '-b', '--noCheck', ROOT], [`${ROOT}/apps/console/build.mjs`]]) {
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  }
}
