import { percentile } from '../percentile.js';

/** As long as the resolver library of the GNU system waits for an answer. */
export const GIVE_UP_MS = 5_000;

/** How a query was asked. `cached`, `blocked` and `fresh` names are asked over UDP; the others are cached names. */
export const KINDS = ['cached', 'blocked', 'fresh', 'tcp', 'dot', 'doh', 'tls'] as const;
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

export function isUdp({ kind }: Sample): boolean {
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
