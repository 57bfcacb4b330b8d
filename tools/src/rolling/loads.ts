import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DnsClient } from '../deployment/dns-client.js';
import { UPSTREAM_ADDRESS } from '../deployment/dns-message.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { type Child, startChild } from '../services/child.js';
import { load } from '../services/dnsperf.js';

const NAMES = 50;
const RUN_SECONDS = 2;
/** Queries a second of each worker. */
const WORKER_RATE = 150;
/** Long, because a slow answer of a busy machine is not a lost one. */
const TIMEOUT_SECONDS = 15;

/** The first program that the DNS load needs and that is not installed; null if all are installed. */
export function missingProgram(): string | null {
  const missing = ['dnsdist', 'dnsperf'].find((name) => spawnSync(name, ['-h']).error);
  return missing ?? null;
}

/** Starts dnsdist in front of the resolvers. Once a second it queries the readiness name of each resolver. */
export function startDnsdist(folder: string, port: number, resolvers: readonly number[]): Child {
  const check = `checkName="ready.weir.invalid.", mustResolve=true, checkTimeout=${TIMEOUT_SECONDS * 1_000}`;
  const servers = resolvers.map((dns) => `newServer({address="127.0.0.1:${dns}", ${check}})`);
  const settings = [
    `setLocal("127.0.0.1:${port}")`,
    'setSecurityPollSuffix("")',
    'setServerPolicy(roundrobin)',
    `setUDPTimeout(${TIMEOUT_SECONDS})`,
    ...servers,
  ];
  const file = join(folder, 'dnsdist.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  return startChild({
    name: 'dnsdist',
    command: 'dnsdist',
    args: ['--supervised', '--disable-syslog', '-C', file],
    env: process.env,
    logFile: join(folder, 'dnsdist.log'),
  });
}

/** Counters of the queries. */
export interface DnsCount {
  sent: number;
  lost: number;
  /** Answers by RCODE. */
  readonly rcodes: Map<string, number>;
}

/**
 * DNS load by dnsperf, with names that are forwarded and names that are blocked. dnsperf waits for missing answers
 * only at the end of a run, not when it is stopped. So two workers run it for a few seconds at a time, and one of
 * them is always in the middle of a run.
 */
export class DnsLoad {
  readonly count: DnsCount = { sent: 0, lost: 0, rcodes: new Map() };
  private isStopping = false;
  private readonly workers: Promise<unknown>;

  constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {
    const names = Array.from({ length: NAMES }, (_, i) => [
      `host${i}.example.net A`,
      `host${i}.blocked.example.com A`,
    ]);
    writeFileSync(this.file, `${names.flat().join('\n')}\n`);
    this.workers = Promise.all([this.runWorker(0), this.runWorker(RUN_SECONDS / 2)]);
  }

  /** Sends no more, and waits for the answers. @throws Error when the output of dnsperf has no counters. */
  async stop(): Promise<DnsCount> {
    this.isStopping = true;
    await this.workers;
    return this.count;
  }

  private get file(): string {
    return join(this.folder, 'queries');
  }

  private async runWorker(delaySeconds: number): Promise<void> {
    await sleep(delaySeconds * 1_000);
    while (!this.isStopping) {
      const { sent, answered, rcodes } = await load({
        ...{ port: this.port, queries: this.file, timeoutSeconds: TIMEOUT_SECONDS },
        pace: { kind: 'timed', seconds: RUN_SECONDS, rate: WORKER_RATE },
      });
      this.count.sent += sent;
      this.count.lost += sent - answered;
      for (const [rcode, count] of Object.entries(rcodes)) {
        this.count.rcodes.set(rcode, (this.count.rcodes.get(rcode) ?? 0) + count);
      }
    }
  }
}

/** A load with its counters and violations. */
export interface Load {
  /** Calls or requests so far. */
  readonly made: number;
  readonly violations: readonly string[];
  /** Sends no more, and waits for the answers. */
  stop(): Promise<void>;
}

const PAUSE_MS = 20;
/** The subscriber of all loads: the load balancer, because it does not speak the PROXY protocol. */
export const SUBSCRIBER = '127.0.0.1';
const DEFAULT_PAGE = '192.0.2.255';

abstract class LoadLoop implements Load {
  made = 0;
  readonly violations: string[] = [];
  private isStopping = false;
  private running: Promise<unknown> = Promise.resolve();

  start(workers: number): this {
    const numbers = Array.from({ length: workers }, (_, i) => i);
    this.running = Promise.all(numbers.map((worker) => this.run(worker)));
    return this;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  /** One call, the nth of its worker. */
  protected abstract step(worker: number, n: number): Promise<void>;

  private async run(worker: number): Promise<void> {
    for (let n = 0; !this.isStopping; n++) {
      await this.step(worker, n);
      this.made++;
      await sleep(PAUSE_MS);
    }
  }
}

/** A back office that blocks and unblocks names all the time, and checks at once whether each change is in force. */
export class Writers extends LoadLoop {
  private readonly dns = new DnsClient();

  /** @param dnsPort port of the load balancer in front of the resolvers; null: no check over DNS */
  constructor(
    private readonly client: ManagementClient,
    private readonly dnsPort: number | null,
  ) {
    super();
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.dns.close();
  }

  protected async step(worker: number, n: number): Promise<void> {
    const isDeny = n % 2 === 0;
    const domain = `worker${worker}.example.org`;
    const body = { type: isDeny ? 'deny' : 'allow', domain };
    const reply = await this.client.call('POST', '/profile/1/bw_list', body);
    if (reply.status === null) return this.violate(`change without an answer: ${reply.reason}`);
    if (reply.status !== 201) return this.violate(`change: ${reply.status} ${reply.text}`);
    if (reply.applied !== reply.total || reply.total === 0) {
      return this.violate(`change in force on ${reply.applied} of ${reply.total} resolvers`);
    }
    if (this.dnsPort === null) return;
    const { seen, retries } = await this.dns.ask(SUBSCRIBER, this.dnsPort, domain);
    if (retries > 0) this.violate(`${domain} was answered only after a retry`);
    const expected = isDeny ? DEFAULT_PAGE : UPSTREAM_ADDRESS;
    if (seen !== expected) this.violate(`${domain} is ${String(seen)} and not ${expected}`);
  }

  private violate(what: string): void {
    this.violations.push(what);
  }
}

/** Visitors of a blocked site. */
export class PageVisitors extends LoadLoop {
  constructor(private readonly port: number) {
    super();
  }

  protected async step(): Promise<void> {
    try {
      const status = await this.get();
      if (status !== 403) this.violations.push(`block page: ${status}`);
    } catch (error) {
      this.violations.push(`block page without an answer: ${(error as Error).message}`);
    }
  }

  private get(): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { Host: 'www.blocked.example.com', Accept: 'text/html' };
      const sent = request({ host: '127.0.0.1', port: this.port, headers, agent: false });
      sent.once('error', reject).once('response', (response) => {
        response.once('error', reject).once('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      sent.end();
    });
  }
}
