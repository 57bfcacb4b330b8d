import { integer, optionsOrExit, print, runSuite, value } from '../command.js';
import { clonePreviousRelease } from '../release/previous.js';
import { renderRolling, runRolling } from './run.js';

const HELP = `Starts two control planes, two resolvers, two block pages, PostgreSQL and Redis. Restarts every process of Weir, one
after the other, under load, and tells what was lost (docs/operations/rolling-restarts.md). If there was a release
before, all processes are of that one until their first restart.

  npm run test:rolling -- [options]

  --rounds <n>   how often every process is restarted; default: 5
  --drain <n>    seconds for which a process that stops goes on to answer; default: 5
  --help         this text
`;

const { rounds, drain } = optionsOrExit(HELP, {
  rounds: value(integer(1, 10_000), 5),
  drain: value(integer(0, 600), 5),
});

await runSuite('rolling', async (folder) => {
  const previous = await clonePreviousRelease();
  const result = await runRolling({ previous, folder, rounds, drainSeconds: drain });
  print(renderRolling(result));
  return result.violations.length === 0;
});
