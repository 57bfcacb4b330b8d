import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { abortOnSignal, runToEnd } from '../command.js';
import { print } from '../output.js';
import { HELP, parseOptions } from './options.js';
import { previousRelease } from './releases.js';
import { renderReport } from './report.js';
import { runFaults, type RunResult } from './run.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The suite has found the planted defect. */
class DefectFound extends Error {}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2), randomBytes(4).readUInt32BE());
  if (options === null) {
    print(HELP);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weir-faults-'));
  print(`seed ${options.seed}, logs in ${folder}`);
  const interrupted = new AbortController();
  abortOnSignal(
    interrupted,
    (signal) => `ended by ${signal}, seed ${options.seed}, logs in ${folder}`,
  );
  const onViolation = (text: string): void => {
    print(`WRONG ${text}`);
    if (options.plant !== null) interrupted.abort(new DefectFound());
  };
  const { signal } = interrupted;
  let result: RunResult;
  try {
    const previous = await previousRelease(options, root, print);
    result = await runFaults(options, { root, previous, folder, print, onViolation, signal });
  } catch (error) {
    if (!(error instanceof DefectFound)) throw error;
    rmSync(folder, { recursive: true, force: true });
    print(`FOUND: ${options.plant}`);
    // Calls under way would be tried again for a minute.
    process.exit(0);
  }
  print(renderReport(result));
  if (options.plant !== null) {
    print(`NOT FOUND: ${options.plant}, seed ${options.seed}. Logs in ${folder}`);
    process.exitCode = 1;
    return;
  }
  const { violations } = result.stats;
  if (violations.length === 0) {
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    print(`OK, seed ${options.seed}`);
    return;
  }
  const again = options.short
    ? '--short'
    : `--seconds ${options.seconds} --writers ${options.writers}`;
  print(`FAILED: ${violations.length} violations. Logs in ${folder}`);
  print(`To repeat: npm run test:faults -- --seed ${options.seed} ${again}`);
  process.exitCode = 1;
}

await runToEnd(main);
