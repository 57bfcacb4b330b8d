import { fileURLToPath } from 'node:url';
import { integer, optionsOrExit, print, runSuite, value } from '../command.js';
import { findPreviousRelease } from '../release/previous.js';
import { cloneRelease } from '../services/clone.js';
import { renderRolling, runRolling } from './run.js';

const HELP = `Starts two control planes, two resolvers, two block pages, PostgreSQL and Redis. Restarts every process of Weir, one
after the other, under load, and tells what was lost (docs/operations/rolling-restarts.md). If there was a release
before, all processes are of that one until their first restart.

  npm run test:rolling -- [options]

  --rounds <n>   how often every process is restarted; default: 5
  --drain <n>    seconds for which a process that stops goes on to answer; default: 5
  --help         this text
`;

const root = fileURLToPath(new URL('../../..', import.meta.url));

const { rounds, drain } = optionsOrExit(HELP, {
  rounds: value(integer(1, 10_000), 5),
  drain: value(integer(0, 600), 5),
});

await runSuite('rolling', async (folder) => {
  const found = findPreviousRelease(root);
  if ('none' in found) print(`No upgrade is tested: ${found.none}`);
  else print(`Upgrade from ${found.version} (the first run builds it, in minutes)`);
  const previous = 'none' in found ? null : await cloneRelease(root, found.commit);
  const result = await runRolling({ root, previous, folder, rounds, drainSeconds: drain, print });
  print(renderRolling(result));
  return result.violations.length === 0;
});
