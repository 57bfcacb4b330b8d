import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DnsClient } from '../../deployment/dns-client.js';
import type { Child } from '../../services/child.js';
import { cpuMs, peakResidentMiB } from '../../services/control-plane.js';
import { freePort } from '../../services/ports.js';
import { type Job, BLOCK_ADDRESS, UPSTREAM_ADDRESS } from './jobs.js';
import { load, type LoadResult } from './load.js';
import type { Server } from './servers/server.js';

/** What one server did in one round. */
export interface Measurement {
  /** At full load. */
  readonly full: Phase;
  /** At a steady rate. */
  readonly steady: Phase;
  readonly peakMiB: number;
}

export interface Phase {
  readonly perSecond: number;
  /** Processor time of all threads per answer, user and system. */
  readonly cpuUs: number;
  readonly lost: number;
  /** Answers with an RCODE other than NOERROR. */
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface MeasureOptions {
  readonly job: Job;
  readonly folder: string;
  readonly upstreamPort: number;
  readonly prefix: readonly string[];
  readonly seconds: number;
  /** Queries per second of the steady phase. */
  readonly rate: number;
  /** Query files of dnsperf. */
  readonly queries: string;
  readonly warmUp: string;
}

const START_DEADLINE_MS = 180_000;
const MAX_WARM_UPS = 5;
/** Low enough that the upstream loses nothing. */
const WARM_UP_RATE = 3_000;

/** Measures a fresh process of the server. @throws Error when it does not answer as the job says */
export async function measure(server: Server, options: MeasureOptions): Promise<Measurement> {
  const { job, upstreamPort, prefix } = options;
  const folder = join(options.folder, server.name.replaceAll(' ', '-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const port = await freePort();
  const { blockedDomains } = job;
  const child = await server.start({ folder, port, upstreamPort, prefix, blockedDomains });
  try {
    // Some servers answer while they still load a list. Its last domain tells.
    await untilAnswers(child, port, lastOf(blockedDomains()), BLOCK_ADDRESS);
    await untilAnswers(child, port, 'check.example', UPSTREAM_ADDRESS);
    if (job.warmUp.length > 0) await warmUp(port, options.warmUp);
    const full = await phase(child, options, port, null);
    const steady = await phase(child, options, port, options.rate);
    return { full, steady, peakMiB: peakResidentMiB(child.pid) };
  } finally {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks until every name was answered: then all of them are cached. */
async function warmUp(port: number, queries: string): Promise<void> {
  for (let i = 0; i < MAX_WARM_UPS; i++) {
    const result = await load({ port, queries, pace: { kind: 'once', rate: WARM_UP_RATE } });
    if (result.sent === result.answered && errorsOf(result) === 0) return;
  }
  throw new Error(`not all names were answered in ${MAX_WARM_UPS} warm-ups`);
}

async function phase(
  child: Child,
  { queries, seconds }: MeasureOptions,
  port: number,
  rate: number | null,
): Promise<Phase> {
  const before = cpuMs(child.pid);
  const result = await load({ port, queries, pace: { kind: 'timed', seconds, rate } });
  return {
    perSecond: result.perSecond,
    cpuUs: ((cpuMs(child.pid) - before) * 1000) / result.answered,
    lost: result.sent - result.answered,
    errors: errorsOf(result),
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
  };
}

function errorsOf({ rcodes, answered }: LoadResult): number {
  return answered - (rcodes['NOERROR'] ?? 0);
}

async function untilAnswers(
  child: Child,
  port: number,
  name: string,
  expected: string,
): Promise<void> {
  let hasEnded = false;
  void child.exited.then(() => (hasEnded = true));
  const deadlineMs = performance.now() + START_DEADLINE_MS;
  const client = new DnsClient();
  try {
    let seen: string | null = null;
    while (performance.now() < deadlineMs && !hasEnded) {
      ({ seen } = await client.ask('127.0.0.1', port, name));
      if (seen === expected) return;
      await sleep(100);
    }
    const said = child.lastLines().join('\n');
    throw new Error(`${child.name} answers ${name} with ${String(seen)}, not ${expected}\n${said}`);
  } finally {
    await client.close();
  }
}

function lastOf(values: Iterable<string>): string {
  let last: string | undefined;
  for (const value of values) last = value;
  if (last === undefined) throw new RangeError('nothing is blocked');
  return last;
}
