import { percentile } from '../figures.js';

/** As long as the resolver library of the GNU system waits for an answer. */
export const GIVE_UP_MS = 5_000;

/** How a query was asked. `cached`, `blocked` and `fresh` names are asked over UDP; the others are cached names. */
const KINDS = ['cached', 'blocked', 'fresh', 'tcp', 'dot', 'doh', 'tls'] as const;
export type Kind = (typeof KINDS)[number];
const UDP_KINDS: ReadonlySet<Kind> = new Set(['cached', 'blocked', 'fresh']);

/** One query of the neighbour. */
export interface Sample {
  readonly kind: Kind;
  readonly sentMs: number;
  /** Until the answer or, when there was none, until the neighbour gave up. */
  readonly latencyMs: number;
  /** Null: the answer was the right one. Else what came instead, or `no answer`. */
  readonly fault: string | null;
}

/** The neighbour itself did not run for a while, so what it measured then says nothing about the resolver. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the neighbour has measured since its last report. */
export interface Report {
  readonly samples: readonly Sample[];
  readonly gaps: readonly Gap[];
  /** Answers that the kernel has dropped since the start, because the neighbour did not read them in time. */
  readonly unreadAnswers: number;
}

export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** How fast the neighbour was answered in a window. */
export interface Measurement {
  /** Queries over UDP. */
  readonly udp: Latencies;
  /** Queries over TCP, TLS and HTTPS. */
  readonly stream: Latencies;
  readonly p99MsByKind: Readonly<Record<string, number>>;
  /** Share of the queries that was left out, because the neighbour itself did not run. */
  readonly excludedShare: number;
}

function isUdp({ kind }: Sample): boolean {
  return UDP_KINDS.has(kind);
}

/** Those that were sent in the window. */
export function samplesIn(samples: readonly Sample[], { fromMs, toMs }: Gap): readonly Sample[] {
  return samples.filter(({ sentMs }) => sentMs >= fromMs && sentMs < toMs);
}

/** @param samples those of the window */
export function measure(samples: readonly Sample[], gaps: readonly Gap[]): Measurement {
  const usable = samples.filter(
    ({ sentMs, latencyMs }) =>
      !gaps.some(({ fromMs, toMs }) => sentMs <= toMs && sentMs + latencyMs >= fromMs),
  );
  return {
    udp: latenciesOf(usable.filter(isUdp)),
    stream: latenciesOf(usable.filter((sample) => !isUdp(sample))),
    p99MsByKind: Object.fromEntries(
      KINDS.map((kind) => [kind, latenciesOf(usable.filter((one) => one.kind === kind)).p99Ms]),
    ),
    excludedShare: samples.length === 0 ? 1 : 1 - usable.length / samples.length,
  };
}

function latenciesOf(samples: readonly Sample[]): Latencies {
  const values = samples.map(({ latencyMs }) => latencyMs);
  const at = (share: number): number => percentile(values, share);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/**
 * A quiet p99 below this counts as this. What is faster is a matter of the scheduler and the garbage collector, and is
 * small beside the way to any subscriber. An answer over UDP needs one turn of the event loop of the resolver; a new
 * connection needs up to four, to accept it, for the handshake, and for the query.
 */
const FLOOR_MS = { udp: 2.5, stream: 4 } as const;
export type Group = keyof typeof FLOOR_MS;
const MAX_FACTOR = 2;
/** Above these shares a measurement says more about other processes than about the resolver. */
const MAX_WAITING_SHARE = 0.005;
const MAX_EXCLUDED_SHARE = 0.05;
/** Of the memory of the resolver. Its pod has 4 GiB (`resolver.resources` of the chart). */
const MAX_GROWTH_MIB = 512;

/** What was measured around one attack. */
export interface Observation {
  readonly quiet: Measurement;
  readonly attack: Measurement;
  /** The queries from the beginning of the attack to the beginning of the next. */
  readonly samples: readonly Sample[];
  /** UDP packets that the kernel dropped before the resolver or the neighbour could read them. */
  readonly kernelDrops: number;
  /** Share of the attack in which the resolver could have run, but other processes had its processor. */
  readonly waitingShare: number;
  /** How much more memory the resolver had under attack than in the quiet time before. */
  readonly growthMiB: number;
}

export interface Verdict {
  readonly result: 'ok' | 'failed' | 'disturbed';
  /** Why it is not ok. */
  readonly reasons: readonly string[];
}

export function judge(observation: Observation): Verdict {
  const slow = [
    ...slowness('UDP', observation, 'udp'),
    ...slowness('TCP, TLS, HTTPS', observation, 'stream'),
  ];
  const failures = lostQueries(observation);
  const { growthMiB } = observation;
  if (growthMiB > MAX_GROWTH_MIB) failures.push(`the resolver has ${growthMiB} MiB more memory`);
  if (failures.length > 0) return { result: 'failed', reasons: [...failures, ...slow] };
  if (slow.length === 0) return { result: 'ok', reasons: [] };
  const disturbance = disturbanceOf(observation);
  if (disturbance === null) return { result: 'failed', reasons: slow };
  return { result: 'disturbed', reasons: [...slow, disturbance] };
}

/** Whether other processes had the processor of the resolver for too long. */
export function isCrowded(waitingShare: number): boolean {
  return waitingShare > MAX_WAITING_SHARE;
}

/** The highest p99 that is allowed under attack. */
export function limitMs(quiet: Measurement, group: Group): number {
  return MAX_FACTOR * Math.max(quiet[group].p99Ms, FLOOR_MS[group]);
}

function lostQueries({ samples, kernelDrops }: Observation): string[] {
  const faulty = samples.filter(({ fault }) => fault !== null);
  const unanswered = faulty.filter((sample) => isUdp(sample) && sample.fault === 'no answer');
  const others = faulty.filter((sample) => !unanswered.includes(sample));
  const alike = Map.groupBy(others, ({ kind, fault }) => `${kind}: ${fault}`);
  const reasons = [...alike].map(([what, { length }]) => `${length} × ${what}`);
  if (unanswered.length > kernelDrops) {
    reasons.unshift(
      `${unanswered.length} UDP queries without an answer, ${kernelDrops} dropped by the kernel`,
    );
  }
  return reasons;
}

function slowness(name: string, { quiet, attack }: Observation, group: Group): readonly string[] {
  const limit = limitMs(quiet, group);
  const { p99Ms } = attack[group];
  if (p99Ms <= limit) return [];
  return [`${name}: p99 ${p99Ms.toFixed(1)} ms, more than ${limit.toFixed(1)} ms`];
}

function disturbanceOf({ waitingShare, attack, quiet }: Observation): string | null {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  if (isCrowded(waitingShare))
    return `other processes had the processor of the resolver for ${percent(waitingShare)} of the time`;
  const excluded = Math.max(attack.excludedShare, quiet.excludedShare);
  if (excluded > MAX_EXCLUDED_SHARE)
    return `the neighbour was late itself for ${percent(excluded)} of its queries`;
  return null;
}
