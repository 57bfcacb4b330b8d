/*
 * Compares Weir with other DNS servers: `npm run bench:dns -- --help`.
 *
 * Every server answers the same names with one thread on one core. dnsperf, the upstream (nsd) and the control plane
 * run on another core. Each round starts a fresh process of each server, in another order. It prints figures and
 * asserts nothing but that each server answers as the job says; one that does not is left out with its reason.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeLoad, describeMachine } from '../machine.js';
import { fail, print, progress } from '../../output.js';
import { compareJob } from './compare-job.js';
import { JOBS } from './jobs.js';
import { missingPrograms } from './missing-programs.js';
import { parseOptions, type Options } from './options.js';
import { renderTable } from './report.js';
import { bind } from './servers/bind.js';
import { dnsdist } from './servers/dnsdist.js';
import { dnsmasq } from './servers/dnsmasq.js';
import { knotResolver } from './servers/knot-resolver.js';
import { powerdnsRecursor } from './servers/powerdns-recursor.js';
import type { Server } from './servers/server.js';
import { unbound } from './servers/unbound.js';
import { weir } from './servers/weir.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PEERS: readonly Server[] = [unbound, dnsdist, dnsmasq, knotResolver, bind, powerdnsRecursor];
const WEIR = 'Weir';
const [SERVER_CORE, LOAD_CORE] = ['0', '1'];
const CLIENTS = 8;

const options = parseOptions(
  process.argv.slice(2),
  JOBS.map(({ name }) => name),
  [WEIR, ...PEERS.map(({ name }) => name)],
);
if ('help' in options) print(options.help);
else if ('error' in options) fail(options.error);
else await compare(options);

async function compare(chosen: Options): Promise<void> {
  const missing = missingPrograms();
  if (missing.length > 0) {
    fail(`bench:dns needs ${missing.join(', ')}`);
    return;
  }
  // The children of this process inherit its core. Only the measured servers get the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  const wanted = PEERS.filter(({ name }) => chosen.servers.includes(name));
  for (const { name, debianPackage } of wanted.filter((one) => !one.isInstalled())) {
    progress(`${name} is not installed (Debian package ${String(debianPackage)}); left out`);
  }
  const peers = wanted.filter((one) => one.isInstalled());
  const hasWeir = chosen.servers.includes(WEIR);
  print(describeMachine());
  for (const job of JOBS.filter(({ name }) => chosen.jobs.includes(name))) {
    const results = await compareJob({
      ...chosen,
      job,
      root: ROOT,
      peers,
      ours: hasWeir ? (controlPlane) => [weir(ROOT, controlPlane, WEIR, 1)] : null,
      clients: CLIENTS,
      processors: SERVER_CORE,
      progress,
    });
    print(`\n${job.title}; ${describeLoad()}\n`);
    print(renderTable(results, (server) => server !== WEIR));
  }
}
