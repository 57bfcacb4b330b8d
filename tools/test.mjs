// `npm test`: the static checks and the tests. `npm test -- <vitest arguments>` runs only matching specs, without the
// static checks.
import { spawnSync } from 'node:child_process';

const args = process.argv.slice(2);
const commands =
  args.length > 0
    ? [['vitest', 'run', ...args]]
    : [
        ['npm', 'run', 'lint'],
        [
          'vitest',
          'run',
          ...['unit*', 'integration', 'e2e'].flatMap((name) => ['--project', name]),
        ],
      ];
for (const [command, ...rest] of commands) {
  const { status } = spawnSync(command, rest, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
