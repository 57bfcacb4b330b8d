import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../deployment/deployment.js';
import { makeCertificate } from '../services/certificate.js';
import { Helper } from '../services/helper.js';
import { findFreePorts } from '../services/ports.js';
import { residentMiB } from '../services/usage.js';
import type { WeirProcess } from '../services/weir-process.js';
import type { AttackOrder } from './attacker.js';
import { cpuBetween, keepLoadAway, pinResolver, prefer, readCpuTimes } from './cpu.js';
import {
  ATTACKER,
  BLOCK_PAGE,
  BLOCKED_ZONE,
  NEIGHBOUR,
  NEIGHBOUR_PORTS,
  NETWORK,
  nowMs,
  SERVED_CLIENTS,
  SERVER,
  type Target,
} from './target.js';
import {
  type Gap,
  GIVE_UP_MS,
  isCrowded,
  judge,
  measure,
  type Measurement,
  type Observation,
  type Report,
  type Sample,
  samplesIn,
  type Verdict,
} from './verdict.js';

export interface RunOptions {
  /** Of data and logs. */
  readonly folder: string;
  /** Aborted when a process ends that nobody stopped, with an Error, and when the run is to end before its time. */
  readonly failed: AbortController;
  /** By name, one after the other. */
  readonly attacks: readonly string[];
  readonly onAttack: (name: string) => void;
  readonly onResult: (result: AttackResult) => void;
}

/** One attack, and what it did to the neighbour. */
export interface AttackResult {
  readonly attack: string;
  readonly observation: Observation;
  /** The quiet time after the attack. */
  readonly after: Measurement;
  readonly verdict: Verdict;
  /** What the attacker got. */
  readonly attacker: Readonly<Record<string, number>>;
  /** Counters of the resolver that changed. */
  readonly counters: Readonly<Record<string, number>>;
  /** Share of the attack in which the threads of the resolver that answer ran. */
  readonly cpuShare: number;
}

/** A time, and what the resolver did in it, as shares of the time. */
interface ObservedWindow extends Gap {
  readonly runningShare: number;
  /** It could have run, but other processes had its processor. */
  readonly waitingShare: number;
  /** The most memory that the resolver had. */
  readonly memoryMiB: number;
}

/** Queries a second that one subscriber gets answers to. Above the rates of all attacks but `over-rate`. */
const QUERY_RATE_LIMIT = 5_000;
const [NEIGHBOUR_PROFILE, ATTACKER_PROFILE] = [1, 2];
const [LOWEST_PORT, HIGHEST_PORT] = [1_024, 65_535];
const [ATTACK_MS, QUIET_MS] = [8_000, 5_000];
/** How often an attack, or a quiet time, is repeated that could not be measured: other processes were in the way. */
const REPEATS = 2;
/** The compiler has met the hot functions of all processes. */
const WARM_UP_MS = 8_000;
/** After an attack: questions in flight end within three seconds. */
const SETTLE_MS = 4_000;
/** A sample is reported at most this long after it ended. */
const REPORT_DELAY_MS = 600;
const MEMORY_SAMPLE_MS = 100;
const PRIORITIES = {
  /** Before everything else, so that it measures the resolver and not itself. */
  neighbour: 20,
  /** Below the neighbour: both answer at once, and neither has much to do. */
  upstream: 10,
  /** On a processor of its own: only before what is not of the suite. */
  resolver: 5,
  /** It hardly does anything, but on time. */
  main: 5,
  /** Before everything that is not of the suite, so that it makes the load that it should. */
  attacker: 1,
};

/** Starts PostgreSQL, Redis, a control plane, a resolver, its upstreams and the neighbour, and makes the attacks. */
export async function runNeighbours(options: RunOptions): Promise<readonly AttackResult[]> {
  const { folder, failed } = options;
  keepLoadAway();
  const [tlsPort, httpsPort, ...upstreamPorts] = await findFreePorts(4);
  const { certFile, keyFile } = makeCertificate(folder);
  const deployment = await Deployment.create({
    ...{ folder, replicas: 1, resolvers: 1, withoutProxies: true },
    resolverVariables: () => ({
      UPSTREAMS: upstreamPorts.map((port) => `${SERVER}:${port}`).join(','),
      BLOCK_PAGE_IPV4: BLOCK_PAGE,
      DNS_ALLOWED_CLIENTS: SERVED_CLIENTS,
      DNS_TLS_PORT: String(tlsPort),
      DNS_HTTPS_PORT: String(httpsPort),
      CLIENT_QUERY_RATE: String(QUERY_RATE_LIMIT),
      DNS_TLS_CERT: certFile,
      DNS_TLS_KEY: keyFile,
    }),
    onUnexpectedExit: (explanation) => failed.abort(new Error(explanation)),
  });
  await using helpers = new AsyncDisposableStack();
  helpers.defer(() => deployment.stop());
  try {
    helpers.use(await startHelper('upstream', upstreamPorts, options));
    await deployment.start();
    await configure(deployment);
    const [resolver] = deployment.resolvers;
    pinResolver(resolver.pid);
    prefer(resolver.pid, PRIORITIES.resolver);
    prefer(process.pid, PRIORITIES.main);
    const seed = Math.floor(Math.random() * 2 ** 32);
    const target = { dnsPort: deployment.dnsPorts[0], tlsPort, httpsPort, seed };
    const run = new Run(options, resolver, target);
    const neighbour = helpers.use(await startHelper('neighbour', target, options));
    neighbour.process.on('message', (message) => run.take(message as Report));
    return await run.attackAll();
  } catch (error) {
    failed.signal.throwIfAborted();
    throw error;
  }
}

/** Starts a process of the suite, and waits until it is ready. */
async function startHelper(
  script: 'upstream' | 'neighbour' | 'attacker',
  argument: unknown,
  { folder, failed }: RunOptions,
): Promise<Helper> {
  const logFile = join(folder, `${script}.log`);
  const log = openSync(logFile, 'a');
  const program = new URL(`./${script}.js`, import.meta.url);
  const helper = new Helper(program, argument, { stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  void helper.ended.then(({ message }) => {
    if (!helper.process.killed) failed.abort(new Error(`${message}, see ${logFile}`));
  });
  await helper.next();
  prefer(helper.process.pid ?? 0, PRIORITIES[script]);
  return helper;
}

class Run {
  private readonly samples: Sample[] = [];
  private readonly gaps: Gap[] = [];
  private unreadAnswers = 0;
  /** The newest time without an attack. */
  private quiet!: ObservedWindow;
  /** All queries before this time were looked at. */
  private judgedUntilMs = 0;

  constructor(
    private readonly options: RunOptions,
    private readonly resolver: WeirProcess,
    private readonly target: Target,
  ) {}

  take({ samples, gaps, unreadAnswers }: Report): void {
    this.samples.push(...samples);
    this.gaps.push(...gaps);
    this.unreadAnswers = unreadAnswers;
  }

  async attackAll(): Promise<readonly AttackResult[]> {
    const { attacks, onAttack, onResult } = this.options;
    await this.pause(WARM_UP_MS);
    this.quiet = await this.quietTime();
    const results: AttackResult[] = [];
    for (const attack of attacks) {
      onAttack(attack);
      for (let i = 0; i <= REPEATS; i++) {
        const result = await this.attackOnce(attack);
        onResult(result);
        if (i < REPEATS && result.verdict.result === 'disturbed') continue;
        results.push(result);
        break;
      }
    }
    return results;
  }

  private async attackOnce(attack: string): Promise<AttackResult> {
    const { resolver, options, target, quiet } = this;
    const countersBefore = await resolver.metrics();
    const unreadBefore = this.unreadAnswers;
    const order: AttackOrder = { name: attack, target };
    const attacker = await startHelper('attacker', order, options);
    const during = await this.observe(ATTACK_MS);
    const done = attacker.next<Record<string, number>>();
    attacker.process.send('stop');
    const counts = await done;
    await this.pause(SETTLE_MS);
    await attacker[Symbol.asyncDispose]();
    const counters = changes(countersBefore, await resolver.metrics());
    const after = await this.quietTime();
    this.quiet = after;
    const judged = { fromMs: this.judgedUntilMs, toMs: after.toMs - GIVE_UP_MS - REPORT_DELAY_MS };
    this.judgedUntilMs = judged.toMs;
    const observation: Observation = {
      quiet: this.measure(quiet),
      attack: this.measure(during),
      samples: samplesIn(this.samples, judged),
      kernelDrops: (counters['udp_kernel_drops'] ?? 0) + this.unreadAnswers - unreadBefore,
      waitingShare: during.waitingShare,
      growthMiB: during.memoryMiB - quiet.memoryMiB,
    };
    return {
      ...{ attack, observation, counters, attacker: counts },
      after: this.measure(after),
      verdict: judge(observation),
      cpuShare: during.runningShare,
    };
  }

  /** A time without an attack, in which other processes were not in the way either, if possible. */
  private async quietTime(): Promise<ObservedWindow> {
    let window = await this.observe(QUIET_MS);
    for (let i = 0; i < REPEATS && isCrowded(window.waitingShare); i++) {
      window = await this.observe(QUIET_MS);
    }
    return window;
  }

  private async observe(lengthMs: number): Promise<ObservedWindow> {
    const { pid } = this.resolver;
    const [fromMs, before] = [nowMs(), readCpuTimes(pid)];
    let memoryMiB = 0;
    const sampler = setInterval(() => {
      memoryMiB = Math.max(memoryMiB, residentMiB(pid, 'now'));
    }, MEMORY_SAMPLE_MS);
    try {
      await this.pause(lengthMs);
    } finally {
      clearInterval(sampler);
    }
    const [toMs, after] = [nowMs(), readCpuTimes(pid)];
    const { runningMs, waitingMs } = cpuBetween(before, after);
    const spanMs = toMs - fromMs;
    return {
      ...{ fromMs, toMs, memoryMiB },
      runningShare: runningMs / spanMs,
      waitingShare: waitingMs / spanMs,
    };
  }

  private measure(window: Gap): Measurement {
    return measure(samplesIn(this.samples, window), this.gaps);
  }

  private pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.options.failed.signal });
  }
}

async function configure({ clients }: Deployment): Promise<void> {
  const post = (path: string, body: unknown) => clients[0].change('POST', path, body);
  await post('/blockpage/', { id: 1, type: 0 });
  for (const id of [NEIGHBOUR_PROFILE, ATTACKER_PROFILE]) {
    await post('/profiles/', { profile: { id, page_id: null } });
    await post(`/profile/${id}/bw_list`, { type: 'deny', domain: BLOCKED_ZONE });
  }
  await post('/net/', { ip: ATTACKER, profile_id: ATTACKER_PROFILE });
  await post('/net/', { ip: NETWORK, prefix_len: 24, profile_id: ATTACKER_PROFILE });
  const ranges = [
    [NEIGHBOUR_PORTS, HIGHEST_PORT, NEIGHBOUR_PROFILE],
    [LOWEST_PORT, NEIGHBOUR_PORTS - 1, ATTACKER_PROFILE],
  ];
  for (const [lower_port_bound, upper_port_bound, profile_id] of ranges) {
    await post('/napt/', { ip: NEIGHBOUR, lower_port_bound, upper_port_bound, profile_id });
  }
}

/** Counters of ordinary work, which goes on during the attack too. */
const ORDINARY =
  /^(queries|cache_|upstream_(queries|results|tcp)|coalesced|feed|query_log|upstream_probes)/;

/** The counters of a resolver that changed, without `weir_resolver_` and `_total`, apart from ordinary work. */
function changes(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Readonly<Record<string, number>> {
  const changed = [...after].flatMap(([metric, value]) => {
    const [, name, labels = ''] = /^weir_resolver_(\w+)_total(\{.*)?$/.exec(metric) ?? [];
    const difference = value - (before.get(metric) ?? 0);
    const isOfInterest = name !== undefined && difference !== 0 && !ORDINARY.test(name);
    return isOfInterest ? [[name + labels, difference] as const] : [];
  });
  return Object.fromEntries(changed);
}
