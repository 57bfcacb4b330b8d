/*
 * A resolver with an empty configuration against one at full size: `npm run bench:scale -- --help`.
 *
 * The resolver has one core; the load generator, the upstream (nsd), the feed and Redis have another. Each round
 * starts a fresh process of each. It prints figures and asserts nothing but that the queries are answered.
 */
import { loadSystemCalls } from '@weir/udp-batch';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hasNsd } from '../dns/servers/upstream.js';
import { describeLoad, describeMachine } from '../machine.js';
import { fail, print, progress } from '../../output.js';
import { parseOptions, type ScaleOptions } from './options.js';
import { renderScale } from './report.js';
import { runScale } from './run.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const [SERVER_CORE, LOAD_CORE] = ['0', '1'];

const options = parseOptions(process.argv.slice(2));
if ('help' in options) print(options.help);
else if ('error' in options) fail(options.error);
else await compare(options);

async function compare(chosen: ScaleOptions): Promise<void> {
  const missing = missingParts();
  if (missing.length > 0) {
    fail(`bench:scale needs ${missing.join(', ')}`);
    return;
  }
  // The children of this process inherit its core. Only the resolver gets the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  const prefix = ['taskset', '-c', SERVER_CORE];
  const figures = await runScale({ ...chosen, root: ROOT, prefix, progress });
  print(
    `\nscale ${chosen.scale}, ${chosen.rounds} rounds of ${chosen.seconds} s; ${describeLoad()}\n`,
  );
  print(renderScale(figures));
}

function missingParts(): string[] {
  const missing: string[] = [];
  if (loadSystemCalls() === null) missing.push('Linux on x64 or arm64');
  if (spawnSync('taskset', ['--version']).error !== undefined) missing.push('taskset');
  if (!hasNsd()) missing.push('nsd (Debian package)');
  if (cpus().length < 2) missing.push('two cores');
  return missing;
}
