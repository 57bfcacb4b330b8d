import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { DEFAULT_PAGE_ADDRESS } from '../deployment/deployment.js';
import type { DnsClient } from '../deployment/dns-client.js';
import { UPSTREAM_ADDRESS } from '../deployment/dns-message.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { type Child, startChild } from '../services/child.js';
import { loadDns } from '../services/load-generators.js';

const NAMES = 50;
const RUN_SECONDS = 2;
/** Queries a second of each worker. */
const WORKER_RATE = 150;
/** Long, because a slow answer of a busy machine is not a lost one. */
export const TIMEOUT_SECONDS = 15;

/** The first program that the DNS load needs and that is not installed; null if all are installed. */
export function missingProgram(): string | null {
  return ['dnsdist', 'dnsperf'].find((name) => spawnSync(name, ['-h']).error) ?? null;
}

/** Starts dnsdist in front of the resolvers. Once a second it queries the readiness name of each resolver. */
export function startDnsdist(folder: string, port: number, resolvers: readonly number[]): Child {
  const check = `checkName="ready.weir.invalid.", mustResolve=true, checkTimeout=${TIMEOUT_SECONDS * 1_000}`;
  const settings = [
    `setLocal("127.0.0.1:${port}")`,
    'setSecurityPollSuffix("")',
    'setServerPolicy(roundrobin)',
    `setUDPTimeout(${TIMEOUT_SECONDS})`,
    ...resolvers.map((dns) => `newServer({address="127.0.0.1:${dns}", ${check}})`),
  ];
  const file = join(folder, 'dnsdist.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  return startChild({
    command: 'dnsdist',
    args: ['--supervised', '--disable-syslog', '-C', file],
    env: process.env,
    logFile: join(folder, 'dnsdist.log'),
  });
}

/** Shorter than any timeout of a process. */
const STALL_MS = 1_000;
/** So long after a stall its failures may last: an error is cached, a connection is opened again. */
const AFTERMATH_MS = 15_000;
const LOOK_MS = 100;

/** Notices when the machine has stood still: what fails then fails by the timeouts of each process. */
export class StallWatch implements Disposable {
  private lookedMs = performance.now();
  private stalledMs = -Infinity;
  private readonly timer = setInterval(() => this.look(), LOOK_MS);

  /** @returns whether what began at `startedMs` may have failed because of a stall */
  hasDisturbed(startedMs: number): boolean {
    this.look();
    return startedMs < this.stalledMs + AFTERMATH_MS;
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const nowMs = performance.now();
    if (nowMs - this.lookedMs > STALL_MS) this.stalledMs = nowMs;
    this.lookedMs = nowMs;
  }
}

/** Counters of the queries. */
export interface DnsCount {
  sent: number;
  lost: number;
  /** Answers with an RCODE other than NOERROR. */
  errors: number;
}

/**
 * Starts DNS load by dnsperf, with names that are forwarded and names that are blocked. dnsperf waits for missing
 * answers only at the end of a run, not when it is stopped. So two workers run it for a few seconds at a time, and one
 * of them is always in the middle of a run.
 * @returns sends no more, waits for the answers, and counts; it throws Error when the output of dnsperf has no counters
 */
export function startDnsLoad(
  folder: string,
  port: number,
  stalls: StallWatch,
): () => Promise<DnsCount> {
  const queries = join(folder, 'queries');
  const names = Array.from({ length: NAMES }, (_, i) => {
    return `host${i}.example.net A\nhost${i}.blocked.example.com A\n`;
  });
  writeFileSync(queries, names.join(''));
  const count: DnsCount = { sent: 0, lost: 0, errors: 0 };
  let isStopping = false;
  const work = async (delaySeconds: number): Promise<void> => {
    await sleep(delaySeconds * 1_000);
    while (!isStopping) {
      const startedMs = performance.now();
      const { sent, answered, errors } = await loadDns({
        ...{ port, queries, timeoutSeconds: TIMEOUT_SECONDS },
        ...{ seconds: RUN_SECONDS, rate: WORKER_RATE },
      });
      count.sent += sent;
      if (stalls.hasDisturbed(startedMs)) continue;
      count.lost += sent - answered;
      count.errors += errors;
    }
  };
  const workers = Promise.all([work(0), work(RUN_SECONDS / 2)]);
  return async () => {
    isStopping = true;
    await workers;
    return count;
  };
}

/** A load with its counters. */
interface Load {
  /** Calls or requests so far. */
  made: number;
  readonly violations: string[];
  /** Sends no more, and waits for the answers. */
  stop(): Promise<unknown>;
}

const PAUSE_MS = 20;
/** The subscriber of all loads: the load balancer, because it does not speak the PROXY protocol. */
export const SUBSCRIBER = '127.0.0.1';

/** @param step one call, the nth of its worker. It returns what was wrong; null: nothing */
function startLoad(
  workers: number,
  stalls: StallWatch,
  step: (worker: number, n: number) => Promise<string | null>,
): Load {
  let isStopping = false;
  const running = Array.from({ length: workers }, async (_, worker) => {
    for (let n = 0; !isStopping; n++) {
      const startedMs = performance.now();
      const wrong = await step(worker, n);
      if (wrong !== null && !stalls.hasDisturbed(startedMs)) started.violations.push(wrong);
      started.made++;
      await sleep(PAUSE_MS);
    }
  });
  const started: Load = {
    ...{ made: 0, violations: [] },
    stop: () => {
      isStopping = true;
      return Promise.all(running);
    },
  };
  return started;
}

/**
 * A back office that blocks and unblocks names all the time, and checks at once whether each change is in force.
 * @param dnsPort port of the load balancer in front of the resolvers; null: no check over DNS
 */
export function startWriters(
  workers: number,
  stalls: StallWatch,
  client: ManagementClient,
  dns: DnsClient,
  dnsPort: number | null,
): Load {
  return startLoad(workers, stalls, async (worker, n) => {
    const type = n % 2 === 0 ? 'deny' : 'allow';
    const domain = `worker${worker}.example.org`;
    const startedMs = performance.now();
    const reply = await client.call('POST', '/profile/1/bw_list', { type, domain });
    if (reply.status === null) return `change without an answer: ${reply.reason}`;
    if (reply.status !== 201) return `change: ${reply.status} ${reply.text}`;
    if (reply.applied !== reply.total || reply.total === 0) {
      const tookMs = Math.round(performance.now() - startedMs);
      return `change in force on ${reply.applied} of ${reply.total} resolvers after ${tookMs} ms`;
    }
    if (dnsPort === null) return null;
    const { seen, retries } = await dns.ask(SUBSCRIBER, dnsPort, domain);
    if (retries > 0) return `${domain} was answered only after a retry`;
    const expected = type === 'deny' ? DEFAULT_PAGE_ADDRESS : UPSTREAM_ADDRESS;
    return seen === expected ? null : `${domain} is ${String(seen)} and not ${expected}`;
  });
}

/** Visitors of a blocked site, each time on a connection of their own. */
export function startVisitors(workers: number, stalls: StallWatch, port: number): Load {
  const headers = { host: 'www.blocked.example.com', accept: 'text/html' };
  return startLoad(workers, stalls, async () => {
    try {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}`, {
        headers,
        reset: true,
      });
      await body.dump();
      return statusCode === 403 ? null : `block page: ${statusCode}`;
    } catch (error) {
      return `block page without an answer: ${(error as Error).message}`;
    }
  });
}
