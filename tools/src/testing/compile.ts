import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Global setup: compiles what tests start as processes and threads. This is quick when it is up to date. */
export default function setup(): void {
  const tsc = `${ROOT}/node_modules/typescript/bin/tsc`;
  execFileSync(process.execPath, [tsc, '-b', '--noCheck', ROOT], { stdio: 'inherit' });
}
