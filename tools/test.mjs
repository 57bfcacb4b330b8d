// `npm test`: the static checks and the tests. `npm test -- <vitest arguments>` runs only matching specs, without the
// static checks.
import { runSteps, runTogether } from './steps.mjs';

const args = process.argv.slice(2);
if (args.length > 0) {
  runSteps([['Tests', 'vitest', ['run', ...args]]]);
} else {
  await runTogether([
    ['Static checks', 'node', ['tools/lint.mjs']],
    ['Unit tests', 'vitest', ['run', '--project', 'unit*']],
  ]);
  if (process.exitCode === undefined) {
    runSteps([
      [
        'Integration tests (real PostgreSQL, Redis, sockets) and end-to-end tests (a fresh clone)',
        'vitest',
        ['run', '--project', 'integration', '--project', 'e2e'],
      ],
    ]);
  }
}
