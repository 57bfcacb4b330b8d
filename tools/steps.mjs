import { spawnSync } from 'node:child_process';

/**
 * Runs commands one after the other, each with a title. If one fails, the process exits.
 * @param {readonly (readonly [title: string, command: string, args: readonly string[]])[]} steps
 */
export function runSteps(steps) {
  for (const [title, command, args] of steps) {
    const startedMs = Date.now();
    process.stdout.write(`\n── ${title}\n`);
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
    if (error) process.stderr.write(`${error.message}\n`);
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
    process.stdout.write(`── ${title}: ${status === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`);
    if (status !== 0) process.exit(1);
  }
}
