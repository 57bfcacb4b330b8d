/*
 * Compares Weir with other DNS servers: `npm run bench:dns -- --help`.
 *
 * Every server answers the same names with one thread on one core. dnsperf, the upstream (nsd) and the control plane
 * run on another core. Each round starts a fresh process of each server, in another order. It prints figures and
 * asserts nothing but that each server answers as the job says.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../services/ports.js';
import { type Job, JOBS } from './jobs.js';
import { type Measurement, measure } from './measure.js';
import { readOptions, type Options } from './options.js';
import { renderTable } from './report.js';
import { bind } from './servers/bind.js';
import { dnsdist } from './servers/dnsdist.js';
import { dnsmasq } from './servers/dnsmasq.js';
import { knotResolver } from './servers/knot-resolver.js';
import { map, writeLines } from './servers/peer.js';
import { powerdnsRecursor } from './servers/powerdns-recursor.js';
import type { Server } from './servers/server.js';
import { unbound } from './servers/unbound.js';
import { hasNsd, startUpstream } from './servers/upstream.js';
import { startWeirControlPlane, weir } from './servers/weir.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PEERS: readonly Server[] = [unbound, dnsdist, dnsmasq, knotResolver, bind, powerdnsRecursor];
const WEIR = 'Weir';
const [SERVER_CORE, LOAD_CORE] = ['0', '1'];

const print = (text: string): void => void process.stdout.write(`${text}\n`);
/** A line on how far the run is, for whoever waits. */
const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const options = readOptions(
  process.argv.slice(2),
  JOBS.map(({ name }) => name),
  [WEIR, ...PEERS.map(({ name }) => name)],
);
if ('help' in options) print(options.help);
else if ('error' in options) fail(options.error);
else await compare(options);

function fail(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}

async function compare(chosen: Options): Promise<void> {
  const missing = missingPrograms();
  if (missing.length > 0) {
    fail(`bench:dns needs two cores and ${missing.join(', ')} (Debian packages)`);
    return;
  }
  // The children of this process inherit its core. Only the measured servers get the other one.
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
  const peers = PEERS.filter(({ name }) => chosen.servers.includes(name));
  for (const { name, debianPackage } of peers.filter((one) => !one.isInstalled())) {
    progress(`${name} is not installed (Debian package ${String(debianPackage)}); left out`);
  }
  printMachine();
  for (const job of JOBS.filter(({ name }) => chosen.jobs.includes(name))) {
    const installed = peers.filter((one) => one.isInstalled());
    await compareJob(job, installed, chosen);
  }
}

async function compareJob(job: Job, peers: readonly Server[], chosen: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-dns-'));
  const upstreamPort = await freePort();
  const upstreamFolder = join(folder, 'upstream');
  mkdirSync(upstreamFolder);
  const upstream = startUpstream(upstreamFolder, upstreamPort);
  const hasWeir = chosen.servers.includes(WEIR);
  const controlPlane = hasWeir
    ? await startWeirControlPlane(ROOT, join(folder, 'control-plane'), job.blockedDomains())
    : null;
  try {
    const [queries, warmUp] = [join(folder, 'queries'), join(folder, 'warm-up')];
    await writeLines(
      queries,
      map(job.names(), (name) => `${name} A`),
    );
    await writeLines(
      warmUp,
      map(job.warmUp, (name) => `${name} A`),
    );
    const servers = [...(controlPlane === null ? [] : [weir(ROOT, controlPlane)]), ...peers];
    const { rounds, seconds, rate } = chosen;
    const prefix = ['taskset', '-c', SERVER_CORE];
    const setup = { job, folder, upstreamPort, prefix, seconds, rate, queries, warmUp };
    const results = new Map<string, Measurement[]>(servers.map(({ name }) => [name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const server of rotate(servers, round)) {
        progress(`${job.name}, round ${round} of ${rounds}: ${server.name}`);
        results.get(server.name)?.push(await measure(server, setup));
      }
    }
    print(`\n${job.title}; load ${loadavg()[0]?.toFixed(1)}\n`);
    const table = Array.from(results, ([server, all]) => ({ server, rounds: all }));
    print(renderTable(table, WEIR));
  } finally {
    await controlPlane?.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rotate<T>(values: readonly T[], by: number): T[] {
  const at = by % values.length;
  return [...values.slice(at), ...values.slice(0, at)];
}

function missingPrograms(): string[] {
  const programs = ['dnsperf', 'taskset'];
  const missing = programs.filter((one) => spawnSync('which', [one]).status !== 0);
  if (!hasNsd()) missing.push('nsd');
  if (cpus().length < 2) missing.push('a second core');
  return missing;
}

function printMachine(): void {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  print(`${cpu?.model ?? 'unknown'}, ${cpus().length} cores, ${gib} GiB`);
  print(`Node ${process.version}, ${new Date().toISOString()}, load ${loadavg()[0]?.toFixed(1)}`);
}
