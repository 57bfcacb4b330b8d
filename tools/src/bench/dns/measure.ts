import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { DnsClient } from '../../deployment/dns-client.js';
import { encodeQuery, readAnswer, UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import type { Child } from '../../services/child.js';
import { freePort } from '../../services/ports.js';
import { until } from '../../services/until.js';
import { cpuMs, residentMiB } from '../../services/usage.js';
import { BLOCK_ADDRESS, type PhaseName } from './jobs.js';
import { loadDns, loadHttps, type LoadResult } from '../../services/load-generators.js';
import type { Server, ServerSetup } from './servers.js';

/** Queries a second of the steady phase. */
const STEADY_RATE = 20_000;

/** Asks the names of a phase, at a rate or as fast as answers come (null). */
export type Ask = (phase: PhaseName, seconds: number, rate: number | null) => Promise<LoadResult>;

/** The load of a job on a server that answers. */
async function asker(setup: MeasureOptions & ServerSetup): Promise<Ask> {
  const { queries, clients, job, port, tlsPort, folder } = setup;
  const { load } = job;
  if (load.transport === 'doh') {
    const [name] = job.names('warm');
    const answerBytes = await checkHttps(tlsPort, name);
    const target = { port: tlsPort, log: join(folder, 'h2load'), answerBytes, ...load };
    return (phase, seconds, rate) => loadHttps({ ...target, paths: queries[phase], seconds, rate });
  }
  const { transport } = load;
  const target = {
    port: transport === 'dot' ? tlsPort : port,
    transport,
    clients: transport === 'udp' ? clients : load.connections,
  };
  return (phase, seconds, rate) => loadDns({ ...target, queries: queries[phase], seconds, rate });
}

/** Asks for a blocked name over HTTPS. @returns the size of the answer @throws Error when it is wrong */
async function checkHttps(port: number, name: string): Promise<number> {
  const dispatcher = new Agent({ allowH2: true, connect: { rejectUnauthorized: false } });
  const url = `https://127.0.0.1:${port}${pathOf(name)}`;
  const { statusCode, body } = await request(url, { dispatcher });
  const answer = Buffer.from(await body.arrayBuffer());
  await dispatcher.destroy();
  const seen = statusCode === 200 ? readAnswer(answer) : `status ${statusCode}`;
  if (seen === BLOCK_ADDRESS) return answer.length;
  throw new Error(`it answers ${name} over HTTPS with ${seen}, not ${BLOCK_ADDRESS}`);
}

/** A line of dnsperf. */
export const queryOf = (name: string): string => `${name} A`;

/** A line of h2load. */
export const pathOf = (name: string): string =>
  `/dns-query?dns=${encodeQuery(0, name).toString('base64url')}`;

/** What one server did in one round. */
export interface Measurement {
  /** At full load. */
  readonly full: Phase;
  /** At a steady rate. */
  readonly steady: Phase;
  readonly memoryMiB: number;
}

export interface Phase extends Omit<LoadResult, 'sent' | 'answered'> {
  /** Processor time of all threads per answer, user and system. */
  readonly cpuUs: number;
  readonly lost: number;
}

export interface MeasureOptions extends Omit<ServerSetup, 'port' | 'tlsPort'> {
  /** Sockets of the load generator, over UDP. */
  readonly clients: number;
  /** Files of dnsperf, or of h2load. */
  readonly queries: Readonly<Record<PhaseName, string>>;
  readonly seconds: number;
}

const START_DEADLINE_MS = 180_000;
/**
 * Load that is not counted. After this many answers Weir's code is compiled, and caches are as in a long run. A busy
 * machine needs several turns for them.
 */
const WARM_ANSWERS = 100_000;
const WARM_SECONDS = 2;
const MAX_WARM_TURNS = 10;
/** So few names at a time fill a cache that the upstream and the server lose next to nothing. */
const FILLERS = 20;
/** A busy machine may answer late. */
const FILL_WAIT_MS = 5_000;

/** Measures a fresh process of a server. @throws Error when it does not answer as the job says */
export async function measureServer(server: Server, options: MeasureOptions): Promise<Measurement> {
  const { job } = options;
  await using own = await mkdtempDisposable(join(options.folder, 'process-'));
  const setup = { ...options, folder: own.path, port: await freePort(), tlsPort: await freePort() };
  await using child = await server.start(setup);
  // Some servers answer while they still load a list. Its last domain tells.
  await untilAnswers(child, setup.port, [...job.blockedDomains()].at(-1) ?? '', BLOCK_ADDRESS);
  await untilAnswers(child, setup.port, 'check.example', UPSTREAM_ADDRESS);
  await fillCache(setup.port, job.warmUp);
  const ask = await asker(setup);
  return await measurePhases(child, ask, options.seconds, 'peak');
}

/** @param memory which the figure of the memory is */
export async function measurePhases(
  child: Child,
  ask: Ask,
  seconds: number,
  memory: 'now' | 'peak',
): Promise<Measurement> {
  for (let turn = 0, answers = 0; turn < MAX_WARM_TURNS && answers < WARM_ANSWERS; turn++)
    answers += (await ask('warm', WARM_SECONDS, null)).answered;
  const full = await measurePhase(child, () => ask('full', seconds, null));
  const steady = await measurePhase(child, () => ask('steady', seconds, STEADY_RATE));
  return { full, steady, memoryMiB: residentMiB(child.pid, memory) };
}

/** Asks every name once. */
async function fillCache(port: number, names: readonly string[]): Promise<void> {
  await using client = new DnsClient(FILL_WAIT_MS);
  const waiting = names.values();
  const fill = async (): Promise<void> => {
    for (const name of waiting) {
      const { seen } = await client.ask('127.0.0.1', port, name);
      if (seen !== UPSTREAM_ADDRESS) throw new Error(`it answers ${name} with ${String(seen)}`);
    }
  };
  await Promise.all(Array.from({ length: FILLERS }, fill));
}

async function measurePhase(child: Child, ask: () => Promise<LoadResult>): Promise<Phase> {
  const beforeMs = cpuMs(child.pid);
  const { sent, answered, ...figures } = await ask();
  if (answered === 0) throw new Error(`it answered none of ${sent} queries`);
  const cpuUs = ((cpuMs(child.pid) - beforeMs) * 1000) / answered;
  return { ...figures, cpuUs, lost: sent - answered };
}

async function untilAnswers(
  child: Child,
  port: number,
  name: string,
  expected: string,
): Promise<void> {
  let hasEnded = false;
  void child.exited.then(() => (hasEnded = true));
  await using client = new DnsClient();
  let seen = null as string | null;
  const isOver = async (): Promise<boolean> => {
    ({ seen } = await client.ask('127.0.0.1', port, name));
    return hasEnded || seen === expected;
  };
  await until(isOver, START_DEADLINE_MS, 100);
  if (seen === expected) return;
  const said = child.lastLines().join('\n');
  throw new Error(`it answers ${name} with ${String(seen)}, not ${expected}\n${said}`);
}
