import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Child, startChild } from '../services/child.js';

const run = promisify(execFile);

interface Output {
  readonly stdout: string;
}

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
      const limits = [
        '-l',
        String(RUN_SECONDS),
        '-Q',
        String(WORKER_RATE),
        '-t',
        String(TIMEOUT_SECONDS),
      ];
      const args = [
        '-s',
        '127.0.0.1',
        '-p',
        String(this.port),
        '-d',
        this.file,
        '-c',
        '8',
        ...limits,
      ];
      // dnsperf exits with 1 when queries were lost; the output has the number.
      const { stdout } = await run('dnsperf', args).catch((error: unknown) => error as Output);
      this.add(stdout);
    }
  }

  private add(output: string): void {
    const numberOf = (label: string): number => {
      const [, digits] = new RegExp(`${label}:\\s+(\\d+)`).exec(output) ?? [];
      if (digits === undefined) throw new Error(`dnsperf printed no "${label}":\n${output}`);
      return Number(digits);
    };
    this.count.sent += numberOf('Queries sent');
    this.count.lost += numberOf('Queries lost');
    const [, rcodes = ''] = /Response codes:\s+(.*)/.exec(output) ?? [];
    for (const [, rcode = '', count] of rcodes.matchAll(/([A-Z]+) (\d+)/g)) {
      this.count.rcodes.set(rcode, (this.count.rcodes.get(rcode) ?? 0) + Number(count));
    }
  }
}
