import { nowMs } from '../shared/clock.js';
import type { Gap, Kind, Sample } from './sample.js';

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
