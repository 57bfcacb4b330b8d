import { nowMs } from '../shared/helper-side.js';

/** As long as the resolver library of the GNU system waits for an answer. */
export const GIVE_UP_MS = 5_000;

/** Collects samples until they are reported. */
export class Recorder {
  private samples: Sample[] = [];
  private gaps: Gap[] = [];

  /** @param seen the answer as text; null: none came */
  record(kind: Kind, sentMs: number, seen: string | null, expected: string): void {
    const fault = seen === expected ? null : (seen ?? 'no answer');
    this.samples.push({ kind, sentMs, latencyMs: nowMs() - sentMs, fault });
  }

  recordGap(gap: Gap): void {
    this.gaps.push(gap);
  }

  take(): { readonly samples: readonly Sample[]; readonly gaps: readonly Gap[] } {
    const taken = { samples: this.samples, gaps: this.gaps };
    this.samples = [];
    this.gaps = [];
    return taken;
  }
}

/** How a query was asked. `cached`, `blocked` and `fresh` names are asked over UDP; the others are cached names. */
export const KINDS = ['cached', 'blocked', 'fresh', 'tcp', 'dot', 'doh', 'tls'] as const;
export type Kind = (typeof KINDS)[number];

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
export interface Measurements {
  readonly samples: readonly Sample[];
  readonly gaps: readonly Gap[];
  /** Answers that the kernel has dropped since the start, because the neighbour did not read them in time. */
  readonly unreadAnswers: number;
}
