import { randomBytes } from 'node:crypto';
import { flag, integer, name, optionsOrExit, print, runSuite, value } from '../command.js';
import { percentile } from '../figures.js';
import { clonePreviousRelease } from '../release/previous.js';
import { type DefectName, DEFECTS } from './plant/plants.js';
import { type FaultOptions, runFaults } from './run.js';
import type { RunStats } from './run-stats.js';

const HELP = `Starts two control planes, three resolvers, PostgreSQL and Redis. Changes the configuration through the API while it
injects faults. Checks that every acknowledged change is in force everywhere and that none is lost
(docs/fault-suite.md).

  npm run test:faults -- [options]

  --seed <n>      seed of the script, the changes and the message faults; default: random, printed
  --seconds <n>   how long faults are injected for; default: 60
  --short         the fixed script of half a minute that npm run test:nightly runs
  --plant <name>  put a defect into the processes and end when it is found; fails if it is not. The defects:
                  ${Object.keys(DEFECTS).join('\n                  ')}
  --help          this text
`;

/** The result of a run as text. */
function renderReport({ counts, faults, latenciesMs }: RunStats): string {
  const ms = (share: number): string => percentile(latenciesMs, share).toFixed(1);
  const names = [...faults].map(([name, count]) => `${name} ${count}`);
  return [
    `changes    ${counts.acknowledged} acknowledged, ${counts.replacements} of them POST /init/ (${counts.inForceEverywhere} in force on all live resolvers, ` +
      `${counts.lateResolvers} with a late or missing one (${counts.lateWhileUndisturbed} late while undisturbed), ` +
      `${counts.countedOnNone} 0/0), ${counts.refused} refused, ${counts.unknown} unknown at first, ` +
      `of them ${counts.foundApplied} already applied`,
    `latency    p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, from the first request to the 2xx, in force everywhere, during faults`,
    `queries    ${counts.queries} answered, of them ${counts.queriesAfterAcknowledgement} right after an acknowledgement; ` +
      `${counts.queriesWhileStarting} more during a start from disk; ` +
      `${counts.queryRetries} retries, ${counts.queriesInconclusive} without a result because their resolver was killed or stopped`,
    `faults     ${names.join(', ')}`,
  ].join('\n');
}

/** The suite has found the planted defect. */
class DefectFound extends Error {}

const options: FaultOptions = optionsOrExit(HELP, {
  seed: value(integer(0, 0xffff_ffff), randomBytes(4).readUInt32BE()),
  seconds: value(integer(1, 86_400), 60),
  short: flag,
  plant: value(name(Object.keys(DEFECTS) as DefectName[]), null),
});
const { seed, seconds, short, plant } = options;
print(`seed ${seed}`);

await runSuite('faults', async (folder, ended) => {
  const onViolation = (text: string): void => {
    print(`WRONG ${text}`);
    if (plant !== null) ended.abort(new DefectFound());
  };
  const { signal } = ended;
  let stats: RunStats;
  try {
    const isWithout = short || plant !== null || seed % 2 === 0;
    const previous = isWithout ? null : await clonePreviousRelease();
    stats = await runFaults({ ...options, previous, folder, onViolation, signal });
  } catch (error) {
    if (!(error instanceof DefectFound)) throw error;
    print(`FOUND: ${plant}`);
    return true;
  }
  print(renderReport(stats));
  if (plant !== null) {
    print(`NOT FOUND: ${plant}, seed ${seed}`);
    return false;
  }
  const { violations } = stats;
  if (violations.length === 0) {
    print(`OK, seed ${seed}`);
    return true;
  }
  print(`FAILED: ${violations.length} violations`);
  const again = short ? '--short' : `--seconds ${seconds}`;
  print(`To repeat: npm run test:faults -- --seed ${seed} ${again}`);
  return false;
});
