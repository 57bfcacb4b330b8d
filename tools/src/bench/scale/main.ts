/*
 * A resolver with an empty configuration against one at full size: `npm run bench:scale -- --help`.
 *
 * The resolver has one core; the load generator, the upstream (nsd), the feed and Redis have another. Each round
 * starts a fresh process of each. It prints figures and asserts nothing but that the queries are answered.
 */
import { execFileSync } from 'node:child_process';
import { fail, integer, optionsOrExit, print, progress, share, value } from '../../command.js';
import { missingPrograms } from '../dns/servers/upstream.js';
import { describeLoad, describeMachine } from '../figures.js';
import { renderScale } from './report.js';
import { runScale } from './run.js';

const [SERVER_CORE, LOAD_CORE] = ['0', '1'];

const HELP = `npm run bench:scale -- [--scale 1] [--rounds 3] [--seconds 5] [--rate 20000]

Compares a resolver without a configuration with one at full size: 1 M IPv4 and 200 k IPv6 networks, 200 k NAPT ranges,
100 k profiles, 10 M domain rules, 5 M category domains, schedules. Names follow Zipf's law; a third of the clients are
behind NAPT ranges. Then a decision by itself, memory by kind of entry, start from disk, and one change.
scale: share of the size, such as 0.01
seconds: of each of the two phases, full load and the steady rate (queries per second)
At full size it takes about ten minutes, 4 GiB of memory and 2 GiB in the folder for temporary files.`;

const options = optionsOrExit(HELP, {
  scale: value(share, 1),
  rounds: value(integer(1, 100), 3),
  seconds: value(integer(1, 600), 5),
  rate: value(integer(1, 1_000_000), 20_000),
});

const missing = missingPrograms();
if (missing.length > 0) fail(`bench:scale needs ${missing.join(', ')}`);
else {
  // The children of this process inherit its core. Only the resolver gets the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  const prefix = ['taskset', '-c', SERVER_CORE];
  const figures = await runScale({ ...options, prefix, progress });
  const { scale, rounds, seconds } = options;
  print(`\nscale ${scale}, ${rounds} rounds of ${seconds} s; ${describeLoad()}\n`);
  print(renderScale(figures));
}
