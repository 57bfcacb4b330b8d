import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../services/ports.js';
import { type Job, type PhaseName, PHASES } from './jobs.js';
import { Contestant } from './measure.js';
import type { ServerRounds } from './report.js';
import { map, writeLines } from './servers/peer.js';
import type { Server } from './servers/server.js';
import { startUpstream } from './servers/upstream.js';
import { withControlPlane } from './servers/weir.js';
import type { Deployment } from '../../deployment/deployment.js';

/** Who is compared with whom, and on which cores. */
export interface Contest {
  /** Other servers than Weir. */
  readonly peers: readonly Server[];
  /** Resolvers of this repository, with the control plane from which they get the domains to block. */
  readonly ours: ((deployment: Deployment) => readonly Server[]) | null;
  /** Whether the others are compared with this server, or with the best of several. */
  readonly isReference: (server: string) => boolean;
  /** Sockets of the load generator. */
  readonly clients: number;
  /** Processors of a measured server and of all else, as `taskset -c` takes them. */
  readonly cores: { readonly server: string; readonly load: string };
}

export interface ComparisonOptions extends Contest {
  readonly job: Job;
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
  /** Tells how far it is. */
  readonly progress: (text: string) => void;
}

/** A server that could not be measured so often is not tried again. */
const MAX_FAILURES = 2;

/** Measures every server in every round, each round in another order. */
export async function compareJob(options: ComparisonOptions): Promise<ServerRounds[]> {
  const { job, ours, peers } = options;
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-dns-'));
  const upstreamPort = await freePort();
  const upstreamFolder = join(folder, 'upstream');
  mkdirSync(upstreamFolder);
  const upstream = startUpstream(upstreamFolder, upstreamPort);
  try {
    if (ours === null) return await runRounds(peers, folder, upstreamPort, options);
    options.progress(`${job.name}: starts the control plane of Weir`);
    return await withControlPlane(job.blockedDomains(), (deployment) =>
      runRounds([...ours(deployment), ...peers], folder, upstreamPort, options),
    );
  } finally {
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runRounds(
  servers: readonly Server[],
  folder: string,
  upstreamPort: number,
  options: ComparisonOptions,
): Promise<Contestant[]> {
  const { job, rounds, progress } = options;
  const fileOf = (phase: PhaseName): string => join(folder, `queries-${phase}`);
  const queries = { warm: fileOf('warm'), full: fileOf('full'), steady: fileOf('steady') };
  for (const phase of PHASES) await writeQueries(queries[phase], job.names(phase));
  const warmUp = join(folder, 'warm-up');
  await writeQueries(warmUp, job.warmUp);
  const prefix = ['taskset', '-c', options.cores.server];
  const setup = { ...options, folder, upstreamPort, prefix, queries, warmUp };
  const contestants: Contestant[] = [];
  for (const server of servers) {
    progress(`${job.name}: prepares ${server.name}`);
    contestants.push(await Contestant.prepare(server, setup));
  }
  for (let round = 1; round <= rounds; round++) {
    for (const contestant of rotate(contestants, round)) {
      const { server, failures } = contestant;
      if (failures.length >= MAX_FAILURES) continue;
      progress(`${job.name}, round ${round} of ${rounds}: ${server}`);
      await contestant.measure(round);
    }
  }
  return contestants;
}

function writeQueries(path: string, names: Iterable<string>): Promise<void> {
  return writeLines(
    path,
    map(names, (name) => `${name} A`),
  );
}

function rotate<T>(values: readonly T[], by: number): T[] {
  if (values.length === 0) return [];
  const at = by % values.length;
  return [...values.slice(at), ...values.slice(0, at)];
}
