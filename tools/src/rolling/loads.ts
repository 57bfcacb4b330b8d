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

const NAMES = 50;
/** Long, because a slow answer of a busy machine is not a lost one. */
export const TIMEOUT_SECONDS = 15;

export const hasDnsdist = (): boolean => spawnSync('dnsdist', ['-h']).error === undefined;

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

/** What a load has done so far. */
export interface LoadCount {
  /** Queries, calls or requests. */
  readonly made: number;
  /** What was wrong with those that failed. */
  readonly violations: readonly string[];
}

interface Load extends LoadCount {
  /** Sends no more, and waits for the answers. */
  stop(): Promise<unknown>;
}

const PAUSE_MS = 20;
/** The subscriber of all loads: the load balancer, because it does not speak the PROXY protocol. */
export const SUBSCRIBER = '127.0.0.1';

/**
 * @param step one call, the nth of its worker. It returns what was wrong; null: nothing
 * @param waits whether a worker makes its next call after the answer, or whether there is one or not
 */
function startLoad(
  workers: number,
  stalls: StallWatch,
  step: (worker: number, n: number) => Promise<string | null>,
  waits = true,
): Load {
  const violations: string[] = [];
  let [made, isStopping] = [0, false];
  const make = async (worker: number, n: number): Promise<void> => {
    const startedMs = performance.now();
    const wrong = await step(worker, n);
    if (wrong !== null && !stalls.hasDisturbed(startedMs)) violations.push(wrong);
    made++;
  };
  const running = Array.from({ length: workers }, async (_, worker) => {
    let answered = Promise.resolve();
    for (let n = 0; !isStopping; n++) {
      const call = make(worker, n);
      answered = answered.then(() => call);
      if (waits) await answered;
      await sleep(PAUSE_MS);
    }
    await answered;
  });
  return {
    get made() {
      return made;
    },
    violations,
    stop: () => {
      isStopping = true;
      return Promise.all(running);
    },
  };
}

/** Clients of the load balancer in front of the resolvers ask for names that are forwarded, and for blocked ones. */
export function startClients(
  workers: number,
  stalls: StallWatch,
  dns: DnsClient,
  dnsPort: number,
): Load {
  const step = (worker: number, n: number): Promise<string | null> => {
    const host = `host${(n * workers + worker) % NAMES}`;
    return n % 2 === 0
      ? ask(dns, dnsPort, `${host}.example.net`, UPSTREAM_ADDRESS)
      : ask(dns, dnsPort, `${host}.blocked.example.com`, DEFAULT_PAGE_ADDRESS);
  };
  return startLoad(workers, stalls, step, false);
}

/** One query. @returns what was wrong; null: nothing */
async function ask(
  dns: DnsClient,
  port: number,
  qname: string,
  expected: string,
): Promise<string | null> {
  const { seen, retries } = await dns.ask(SUBSCRIBER, port, qname);
  if (retries > 0) return `${qname} was answered only after a retry, or never`;
  return seen === expected ? null : `${qname} is ${String(seen)} and not ${expected}`;
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
    const reply = await client.call('POST', '/profile/1/bw_list', { type, domain });
    if (reply.status === null) return `change without an answer: ${reply.reason}`;
    if (reply.status !== 201) return `change: ${reply.status} ${reply.text}`;
    if (reply.applied !== reply.total || reply.total === 0) {
      return `change in force on ${reply.applied} of ${reply.total} resolvers`;
    }
    if (dnsPort === null) return null;
    const expected = type === 'deny' ? DEFAULT_PAGE_ADDRESS : UPSTREAM_ADDRESS;
    return await ask(dns, dnsPort, domain, expected);
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
