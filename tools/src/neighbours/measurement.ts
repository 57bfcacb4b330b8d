import { percentile } from '../percentile.js';
import { type Gap, type Kind, KINDS, type Sample } from './neighbour/sample.js';

export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A window, and what the main thread of the resolver did in it, as shares of the time. */
export interface ObservedWindow extends Window {
  readonly runningShare: number;
  /** It could have run, but other processes had its processor. */
  readonly waitingShare: number;
  /** The most memory that the resolver had. */
  readonly memoryMiB: number;
}

export interface Latencies {
  readonly count: number;
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

const UDP_KINDS: ReadonlySet<Kind> = new Set(['cached', 'blocked', 'fresh']);

export function isUdp({ kind }: Sample): boolean {
  return UDP_KINDS.has(kind);
}

export function samplesIn(samples: readonly Sample[], { fromMs, toMs }: Window): readonly Sample[] {
  return samples.filter(({ sentMs }) => sentMs >= fromMs && sentMs < toMs);
}

/** @param samples those of the window */
export function measure(samples: readonly Sample[], gaps: readonly Gap[]): Measurement {
  const usable = samples.filter((sample) => !gaps.some((gap) => overlaps(sample, gap)));
  return {
    udp: latenciesOf(usable.filter(isUdp)),
    stream: latenciesOf(usable.filter((sample) => !isUdp(sample))),
    p99MsByKind: Object.fromEntries(
      KINDS.map((kind) => [kind, latenciesOf(usable.filter((one) => one.kind === kind)).p99Ms]),
    ),
    excludedShare: samples.length === 0 ? 1 : 1 - usable.length / samples.length,
  };
}

function overlaps({ sentMs, latencyMs }: Sample, { fromMs, toMs }: Gap): boolean {
  return sentMs <= toMs && sentMs + latencyMs >= fromMs;
}

function latenciesOf(samples: readonly Sample[]): Latencies {
  const sorted = samples.map(({ latencyMs }) => latencyMs);
  const at = (share: number): number => percentile(sorted, share);
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
