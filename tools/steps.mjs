import { spawn, spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';

/** @typedef {readonly [title: string, command: string, args: readonly string[]]} Step */

/**
 * Runs commands one after the other, each with a title. If one fails, the process exits.
 * @param {readonly Step[]} steps
 */
export function runSteps(steps) {
  for (const [title, command, args] of steps) {
    const startedMs = Date.now();
    process.stdout.write(`\n── ${title}\n`);
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
    if (error) process.stderr.write(`${error.message}\n`);
    reportEnd(title, status, startedMs);
    if (status !== 0) process.exit(1);
  }
}

/**
 * Runs commands at the same time, and prints the output of each when it has ended. If one fails, the process exits with
 * 1 at its end.
 * @param {readonly Step[]} steps
 */
export async function runTogether(steps) {
  const statuses = await Promise.all(
    steps.map(async ([title, command, args]) => {
      const startedMs = Date.now();
      const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = new Promise((resolve) => {
        child.once('error', (error) => {
          process.stderr.write(`${error.message}\n`);
          resolve(null);
        });
        child.once('close', resolve);
      });
      const output = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
      const status = await ended;
      process.stdout.write(`\n── ${title}\n`);
      for (const text of output) process.stdout.write(text);
      reportEnd(title, status, startedMs);
      return status;
    }),
  );
  // Not at once: a pipe may not have taken all of the output yet.
  if (statuses.some((status) => status !== 0)) process.exitCode = 1;
}

function reportEnd(title, status, startedMs) {
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`── ${title}: ${status === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`);
}
