/*
 * A resolver with one lane against one with more: `npm run bench:lanes -- --help`. Measured as bench:dns does.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { compareJob } from '../dns/compare-job.js';
import { JOBS } from '../dns/jobs.js';
import { missingPrograms } from '../dns/missing-programs.js';
import { renderTable } from '../dns/report.js';
import { weir } from '../dns/servers/weir.js';
import { describeLoad, describeMachine } from '../machine.js';
import { fail, print, progress } from '../../output.js';
import { divideCores } from './cores.js';
import { type LaneOptions, parseOptions } from './options.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Sockets of dnsperf: the kernel spreads them over the lanes. */
const CLIENTS = 64;

const nameOf = (lanes: number): string => `${lanes} ${lanes === 1 ? 'lane' : 'lanes'}`;

const options = parseOptions(
  process.argv.slice(2),
  JOBS.map(({ name }) => name),
);
if ('help' in options) print(options.help);
else if ('error' in options) fail(options.error);
else await compare(options);

async function compare(chosen: LaneOptions): Promise<void> {
  const missing = missingPrograms();
  if (missing.length > 0) {
    fail(`bench:lanes needs ${missing.join(', ')}`);
    return;
  }
  const { server, load } = divideCores(cpus().length);
  execFileSync('taskset', ['-acp', load, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  print(`resolver on processors ${server}, load on ${load}`);
  for (const job of JOBS.filter(({ name }) => chosen.jobs.includes(name))) {
    const results = await compareJob({
      ...chosen,
      job,
      root: ROOT,
      peers: [],
      ours: (plane) => chosen.lanes.map((lanes) => weir(ROOT, plane, nameOf(lanes), lanes)),
      clients: CLIENTS,
      processors: server,
      progress,
    });
    print(`\n${job.title}; ${describeLoad()}\n`);
    print(renderTable(results, (server) => server === nameOf(chosen.lanes[0] ?? 1)));
  }
}
