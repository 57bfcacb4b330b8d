import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMiB } from '../services/usage.js';
import type { NamedAttack } from './attacks/attack.js';
import type { AttackOrder } from './attacks/main.js';
import { changes, KERNEL_DROPS, readCounters } from './counters.js';
import { cpuBetween, prefer, Processors, readCpuTimes } from './cpu.js';
import { HelperProcess } from './helper-process.js';
import {
  measure,
  type Measurement,
  type ObservedWindow,
  samplesIn,
  type Window,
} from './measurement.js';
import { GIVE_UP_MS, type Gap, type Measurements, type Sample } from './neighbour/sample.js';
import { Setting } from './setting.js';
import { nowMs } from './shared/helper-side.js';
import type { Target } from './shared/target.js';
import { isCrowded, judge, type Observation, type Verdict } from './verdict.js';

export interface NeighbourOptions {
  readonly attacks: readonly NamedAttack[];
  /** Length of each attack. */
  readonly seconds: number;
  /** Length of each quiet time. */
  readonly quietSeconds: number;
  /** How often an attack is repeated that could not be measured, because other processes were in the way. */
  readonly repeats: number;
}

export interface RunContext {
  /** The repository, compiled. */
  readonly root: string;
  /** An empty folder for data and logs. */
  readonly folder: string;
  /** Aborted when the run is to end before its time; its reason is an Error. */
  readonly signal: AbortSignal;
  readonly onAttack: (attack: NamedAttack) => void;
  readonly onResult: (result: AttackResult) => void;
}

/** One attack, and what it did to the neighbour. */
export interface AttackResult {
  readonly attack: NamedAttack;
  readonly observation: Observation;
  /** The quiet time after the attack. */
  readonly after: Measurement;
  readonly verdict: Verdict;
  /** What the attacker got. */
  readonly attacker: Readonly<Record<string, number>>;
  /** Counters of the resolver that changed. */
  readonly counters: Readonly<Record<string, number>>;
  /** Share of the attack in which the main thread of the resolver ran. */
  readonly cpuShare: number;
}

export interface RunResult {
  readonly processors: string;
  readonly results: readonly AttackResult[];
}

/** The compiler has met the hot functions of all processes. */
const WARM_UP_MS = 8_000;
/** After an attack: questions in flight end within three seconds. */
const SETTLE_MS = 4_000;
/** A sample is reported at most this long after it ended. */
const REPORT_DELAY_MS = 600;
const MEMORY_SAMPLE_MS = 100;
/** Before everything else, so that it measures the resolver and not itself. */
const NEIGHBOUR_PRIORITY = 20;
/** On a processor of its own: only before what is not of the suite. */
const RESOLVER_PRIORITY = 5;
/** It hardly does anything, but on time. */
const MAIN_PRIORITY = 5;
/** Before everything that is not of the suite, so that it makes the load that it should. */
const ATTACKER_PRIORITY = 1;

/** Makes the attacks one after the other. */
export async function runNeighbours(
  options: NeighbourOptions,
  context: RunContext,
): Promise<RunResult> {
  const processors = Processors.read();
  processors.keepLoadAway();
  const failed = new AbortController();
  const onUnexpectedExit = (explanation: string): void => failed.abort(new Error(explanation));
  const setting = await Setting.start({ ...context, onUnexpectedExit });
  try {
    const resolverPid = setting.resolver.pid;
    processors.pinResolver(resolverPid);
    prefer(resolverPid, RESOLVER_PRIORITY);
    prefer(process.pid, MAIN_PRIORITY);
    const signal = AbortSignal.any([context.signal, failed.signal]);
    const run = new Run(options, { ...context, signal }, setting, onUnexpectedExit);
    return { processors: processors.description, results: await run.attackAll() };
  } catch (error) {
    context.signal.throwIfAborted();
    failed.signal.throwIfAborted();
    throw error;
  } finally {
    await setting.stop();
  }
}

class Run {
  private readonly samples: Sample[] = [];
  private readonly gaps: Gap[] = [];
  private unreadAnswers = 0;
  /** All queries before this time were looked at. */
  private judgedUntilMs = 0;

  constructor(
    private readonly options: NeighbourOptions,
    private readonly context: RunContext,
    private readonly setting: Setting,
    private readonly onUnexpectedExit: (explanation: string) => void,
  ) {}

  async attackAll(): Promise<readonly AttackResult[]> {
    const neighbour = await this.startNeighbour();
    try {
      await this.pause(WARM_UP_MS);
      let quiet = await this.quietTime();
      const results: AttackResult[] = [];
      for (const attack of this.options.attacks) {
        this.context.onAttack(attack);
        let attempt = await this.attackOnce(attack, quiet);
        for (
          let i = 0;
          i < this.options.repeats && attempt.result.verdict.result === 'disturbed';
          i++
        ) {
          this.context.onResult(attempt.result);
          attempt = await this.attackOnce(attack, attempt.quiet);
        }
        this.context.onResult(attempt.result);
        results.push(attempt.result);
        ({ quiet } = attempt);
      }
      return results;
    } finally {
      await neighbour.stop();
    }
  }

  /** @param quiet the quiet time before. @returns also the quiet time after */
  private async attackOnce(
    attack: NamedAttack,
    quiet: ObservedWindow,
  ): Promise<{ readonly result: AttackResult; readonly quiet: ObservedWindow }> {
    const { resolver } = this.setting;
    const countersBefore = await readCounters(resolver.opsUrl);
    const unreadBefore = this.unreadAnswers;
    const attacker = await HelperProcess.start({
      script: './attacks/main.js',
      argument: { name: attack.name, target: this.setting.target } satisfies AttackOrder,
      logFile: join(this.context.folder, 'attacker.log'),
      priority: ATTACKER_PRIORITY,
    });
    attacker.onUnexpectedExit(this.onUnexpectedExit);
    const during = await this.observe(this.options.seconds * 1_000);
    const done = attacker.next();
    attacker.send('stop');
    const counts = (await done) as Record<string, number>;
    await this.pause(SETTLE_MS);
    await attacker.stop();
    const counters = changes(countersBefore, await readCounters(resolver.opsUrl));
    const after = await this.quietTime();
    const judged = { fromMs: this.judgedUntilMs, toMs: after.toMs - GIVE_UP_MS - REPORT_DELAY_MS };
    this.judgedUntilMs = judged.toMs;
    const observation: Observation = {
      quiet: this.measure(quiet),
      attack: this.measure(during),
      samples: samplesIn(this.samples, judged),
      kernelDrops: (counters[KERNEL_DROPS] ?? 0) + this.unreadAnswers - unreadBefore,
      waitingShare: during.waitingShare,
      growthMiB: during.memoryMiB - quiet.memoryMiB,
    };
    const result = {
      attack,
      observation,
      after: this.measure(after),
      verdict: judge(observation),
      attacker: counts,
      counters,
      cpuShare: during.runningShare,
    };
    return { result, quiet: after };
  }

  /** A time without an attack, in which other processes were not in the way either, if possible. */
  private async quietTime(): Promise<ObservedWindow> {
    let window = await this.observe(this.options.quietSeconds * 1_000);
    for (let i = 0; i < this.options.repeats && isCrowded(window.waitingShare); i++) {
      window = await this.observe(this.options.quietSeconds * 1_000);
    }
    return window;
  }

  private async observe(lengthMs: number): Promise<ObservedWindow> {
    const pid = this.setting.resolver.pid;
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
      ...{ fromMs, toMs },
      runningShare: runningMs / spanMs,
      waitingShare: waitingMs / spanMs,
      memoryMiB,
    };
  }

  private measure(window: Window): Measurement {
    return measure(samplesIn(this.samples, window), this.gaps);
  }

  private async startNeighbour(): Promise<HelperProcess> {
    const neighbour = await HelperProcess.start({
      script: './neighbour/main.js',
      argument: this.setting.target satisfies Target,
      logFile: join(this.context.folder, 'neighbour.log'),
      priority: NEIGHBOUR_PRIORITY,
    });
    neighbour.onUnexpectedExit(this.onUnexpectedExit);
    neighbour.onMessage((message) => {
      const { samples, gaps, unreadAnswers } = message as Measurements;
      this.samples.push(...samples);
      this.gaps.push(...gaps);
      this.unreadAnswers = unreadAnswers;
    });
    return neighbour;
  }

  private pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.context.signal });
  }
}
