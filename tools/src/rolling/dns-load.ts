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
const LANE_S = 2;
/** Queries a second. */
const LANE_RATE = 150;
/** A query that takes long because the machine is busy is not lost. */
const TIMEOUT_SECONDS = 15;

/** The first program that is needed for load over DNS and not there; null when there are all. */
export function missingProgram(): string | null {
  const missing = ['dnsdist', 'dnsperf'].find((name) => spawnSync(name, ['-h']).error);
  return missing ?? null;
}

/** dnsdist before the resolvers: it finds out by the readiness name, once a second, which of them to lead to. */
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

/** What became of the queries. */
export interface DnsCount {
  sent: number;
  lost: number;
  /** Answers by RCODE. */
  readonly rcodes: Map<string, number>;
}

/**
 * dnsperf, which asks for names that are forwarded and names that are blocked. It waits for missing answers only when
 * a run is over, not when it is stopped. So it runs for a few seconds at a time, in two lanes, and one of them is
 * always in the middle of a run.
 */
export class DnsLoad {
  readonly count: DnsCount = { sent: 0, lost: 0, rcodes: new Map() };
  private isStopping = false;
  private readonly lanes: Promise<unknown>;

  constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {
    const names = Array.from({ length: NAMES }, (_, i) => [
      `host${i}.example.net A`,
      `host${i}.blocked.example.com A`,
    ]);
    writeFileSync(this.file, `${names.flat().join('\n')}\n`);
    this.lanes = Promise.all([this.lane(0), this.lane(LANE_S / 2)]);
  }

  /** Sends no more, and waits for the answers. @throws Error when dnsperf does not tell what it has done. */
  async stop(): Promise<DnsCount> {
    this.isStopping = true;
    await this.lanes;
    return this.count;
  }

  private get file(): string {
    return join(this.folder, 'queries');
  }

  private async lane(delayS: number): Promise<void> {
    await sleep(delayS * 1_000);
    while (!this.isStopping) {
      const limits = ['-l', String(LANE_S), '-Q', String(LANE_RATE), '-t', String(TIMEOUT_SECONDS)];
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
      // An exit code other than 0 says that something was lost, which the output says better.
      const { stdout } = await run('dnsperf', args).catch((error: unknown) => error as Output);
      this.add(stdout);
    }
  }

  private add(output: string): void {
    const numberOf = (label: string): number => {
      const [, digits] = new RegExp(`${label}:\\s+(\\d+)`).exec(output) ?? [];
      if (digits === undefined) throw new Error(`dnsperf says nothing of "${label}":\n${output}`);
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
