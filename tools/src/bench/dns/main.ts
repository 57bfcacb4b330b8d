/*
 * Compares Weir with other DNS servers, or with another number of lanes: `npm run bench:dns -- --help`.
 *
 * Every server answers the same names with one thread on one core. dnsperf or h2load, the upstream (nsd) and the
 * control plane run on another core. Each round starts a fresh process of each server, in another order. It prints
 * figures and asserts nothing but that each server answers as the job says; one that does not is left out with its
 * reason.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import {
  fail,
  inFolder,
  integer,
  list,
  name,
  optionsOrExit,
  print,
  progress,
  value,
} from '../../command.js';
import type { Deployment } from '../../deployment/deployment.js';
import { makeCertificate } from '../../services/certificate.js';
import { freePort } from '../../services/ports.js';
import { describeLoad, describeMachine } from '../figures.js';
import { JOBS, type Job, PHASES } from './jobs.js';
import {
  type Measurement,
  type MeasureOptions,
  measureServer,
  pathOf,
  queryOf,
} from './measure.js';
import { renderTable, type ServerRounds } from './report.js';
import {
  dnsdist,
  isInstalled,
  type Server,
  unbound,
  weir,
  withControlPlane,
  writeLines,
} from './servers.js';
import { missingPrograms, startUpstream } from './upstream.js';

/** Who is compared with whom, and on which cores. */
interface Contest {
  /** Other servers than Weir. */
  readonly peers: readonly Server[];
  /** Resolvers of this repository, with the control plane from which they get the domains to block. */
  readonly ours: ((deployment: Deployment) => readonly Server[]) | null;
  /** Whether the others are compared with this server, or with the best of several. */
  readonly isReference: (server: string) => boolean;
  /** Sockets of the load generator, over UDP. */
  readonly clients: number;
  /** Processors of a measured server and of all else, as `taskset -c` takes them. */
  readonly cores: { readonly server: string; readonly load: string };
}

/** A server that could not be measured so often is not tried again. */
const MAX_FAILURES = 2;

function compareJob(job: Job, { ours, peers, clients, cores }: Contest): Promise<ServerRounds[]> {
  return inFolder('bench-dns', async (folder) => {
    const upstreamPort = await freePort();
    await using _upstream = startUpstream(folder, upstreamPort);
    const [warm, full, steady] = PHASES.map((phase) => join(folder, `queries-${phase}`));
    const queries = { warm, full, steady };
    const lineOf = job.load.transport === 'doh' ? pathOf : queryOf;
    for (const phase of PHASES)
      await writeLines(queries[phase], Iterator.from(job.names(phase)).map(lineOf));
    const setup = {
      job,
      clients,
      folder,
      upstreamPort,
      queries,
      seconds: options.seconds,
      prefix: ['taskset', '-c', cores.server],
      certificate: makeCertificate(folder),
    };
    if (ours === null) return await runRounds(peers, setup);
    progress(`${job.name}: starts the control plane of Weir`);
    return await withControlPlane(job.blockedDomains(), (deployment) =>
      runRounds([...ours(deployment), ...peers], setup),
    );
  });
}

/** Measures every server in every round, each round in another order. */
async function runRounds(
  servers: readonly Server[],
  setup: MeasureOptions,
): Promise<ServerRounds[]> {
  const contestants = servers.map((server) => {
    return { server, rounds: [] as Measurement[], failures: [] as string[] };
  });
  const order = [...contestants];
  for (let round = 1; round <= options.rounds; round++) {
    order.push(...order.splice(0, 1));
    for (const { server, rounds, failures } of order) {
      if (failures.length >= MAX_FAILURES) continue;
      progress(`${setup.job.name}, round ${round} of ${options.rounds}: ${server.name}`);
      try {
        rounds.push(await measureServer(server, setup));
      } catch (error) {
        failures.push(`round ${round}: ${(error as Error).message}`);
      }
    }
  }
  return contestants.map((one) => ({ ...one, server: one.server.name }));
}

const PEERS: readonly Server[] = [unbound, dnsdist];
const WEIR = 'Weir';
const SERVERS = [WEIR, ...PEERS.map(({ name }) => name)];
const JOB_NAMES = JOBS.map(({ name }) => name);

const HELP = `npm run bench:dns -- [--jobs NAMES] [--servers NAMES] [--lanes NUMBERS] [--rounds 5] [--seconds 5]

Compares Weir with the DNS servers that are installed. Names are separated by commas.
jobs: ${JOB_NAMES.join(', ')}. The last four ask over TCP, TLS and HTTPS: with dnsperf 200 queries at
  a time on 8 connections, with h2load 20 on each of 8, or 2 on each of 64
servers: ${SERVERS.join(', ')}
lanes: instead of other servers, resolvers with these numbers of lanes, such as 1,2. The ratio is to the first. With less
  than four cores the load generator shares theirs: then processor times mean something, and throughput does not
seconds: of each of the two phases, full load and 20,000 queries a second
A round takes 15 s a server and longer on a busy machine, in the job million up to a minute.`;

const options = optionsOrExit(HELP, {
  jobs: value(list(name(JOB_NAMES)), JOB_NAMES),
  servers: value(list(name(SERVERS)), SERVERS),
  lanes: value(list(integer(0, 64)), undefined),
  rounds: value(integer(1, 100), 5),
  seconds: value(integer(1, 600), 5),
});

const jobs = JOBS.filter(({ name }) => options.jobs.includes(name));
const missing = missingPrograms(jobs.map(({ load }) => load.transport));
if (missing.length > 0) fail(`bench:dns needs ${missing.join(', ')}`);
else
  await compare(options.lanes === undefined ? contestOfServers() : contestOfLanes(options.lanes));

/** Weir with one lane beside the others; each has one core, and the load another. */
function contestOfServers(): Contest {
  const wanted = PEERS.filter(({ name }) => options.servers.includes(name));
  for (const one of wanted) {
    if (!isInstalled(one)) progress(`${one.name} (a Debian package) is not installed; left out`);
  }
  const hasWeir = options.servers.includes(WEIR);
  return {
    peers: wanted.filter(isInstalled),
    ours: hasWeir ? (deployment) => [weir(deployment, WEIR, 1)] : null,
    isReference: (server) => server !== WEIR,
    clients: 8,
    cores: { server: '0', load: '1' },
  };
}

/** Resolvers with several lanes, and this many sockets of dnsperf that the kernel spreads them over the lanes. */
function contestOfLanes(lanes: readonly number[]): Contest {
  const nameOf = (count: number): string => `${count} ${count === 1 ? 'lane' : 'lanes'}`;
  const [count, half] = [cpus().length, Math.floor(cpus().length / 2)];
  const all = `0-${count - 1}`;
  return {
    peers: [],
    ours: (deployment) => lanes.map((one) => weir(deployment, nameOf(one), one)),
    isReference: (server) => server === nameOf(lanes[0]),
    clients: 64,
    cores:
      count < 4
        ? { server: all, load: all }
        : { server: `0-${half - 1}`, load: `${half}-${count - 1}` },
  };
}

async function compare(contest: Contest): Promise<void> {
  // The children of this process inherit its cores. Only the measured servers get the others.
  const { server, load } = contest.cores;
  execFileSync('taskset', ['-acp', load, String(process.pid)], { stdio: 'ignore' });
  print(describeMachine());
  print(`servers on processors ${server}, load on ${load}`);
  for (const job of jobs) {
    const results = await compareJob(job, contest);
    print(`\n${job.title}; ${describeLoad()}\n`);
    print(renderTable(results, contest.isReference));
  }
}
