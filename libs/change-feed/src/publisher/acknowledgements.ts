import type { Position } from '../protocol/protocol.js';

/** `applied` of `total` resolvers that may be answering somebody have a change in force (decisions §10). */
export interface Applied {
  readonly applied: number;
  readonly total: number;
}

/** How many resolvers have which revision of one log in force. Those revisions are few: all follow the head. */
class RevisionCounts {
  private readonly counts = new Map<number, number>();
  /** Infinity: there is none. */
  lowest = Infinity;

  add(revision: number): void {
    this.counts.set(revision, (this.counts.get(revision) ?? 0) + 1);
    this.lowest = Math.min(this.lowest, revision);
  }

  remove(revision: number): void {
    const left = (this.counts.get(revision) ?? 0) - 1;
    if (left > 0) this.counts.set(revision, left);
    else this.counts.delete(revision);
    if (left <= 0 && revision === this.lowest) this.lowest = Math.min(...this.counts.keys());
  }

  countFrom(revision: number): number {
    let sum = 0;
    for (const [one, count] of this.counts) if (one >= revision) sum += count;
    return sum;
  }
}

/** What the live resolvers have in force, by log. There is one log, except after a restore. */
export class ResolverPositions {
  private readonly logs = new Map<string, RevisionCounts>();
  private total = 0;

  add({ lineage, revision }: Position): void {
    this.logs.getOrInsertComputed(lineage, () => new RevisionCounts()).add(revision);
    this.total++;
  }

  /** @param resolver must have been added. */
  remove({ lineage, revision }: Position): void {
    const log = this.logs.get(lineage);
    log?.remove(revision);
    if (log?.lowest === Infinity) this.logs.delete(lineage);
    this.total--;
  }

  /** How many resolvers have the revision in force. One that follows another log has not. */
  applied({ lineage, revision }: Position): Applied {
    return { applied: this.logs.get(lineage)?.countFrom(revision) ?? 0, total: this.total };
  }

  /** The newest revision of a log that every resolver has in force; -1 if one follows another log. */
  common(lineage: string): number {
    if (this.total === 0) return Infinity;
    return this.logs.size === 1 ? (this.logs.get(lineage)?.lowest ?? -1) : -1;
  }
}

interface Waiter {
  readonly revision: number;
  readonly end: () => void;
}

/** The changes that wait until resolvers have acknowledged their revision. */
export class AcknowledgementWaits {
  /** By log: its waits, and the value of `finished` when they were last looked through. */
  private readonly logs = new Map<string, { readonly waiters: Set<Waiter>; finished: number }>();

  /** @param finished the newest revision of a log that no change has to wait for (any longer). */
  constructor(private readonly finished: (lineage: string) => number) {}

  /** Resolves as soon as the position is finished, or after `timeoutMs`. */
  async wait({ lineage, revision }: Position, timeoutMs: number): Promise<void> {
    const finished = this.finished(lineage);
    if (timeoutMs <= 0 || revision <= finished) return;
    const log = this.logs.getOrInsert(lineage, { waiters: new Set(), finished });
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        log.waiters.delete(waiter);
        if (log.waiters.size === 0) this.logs.delete(lineage);
        resolve();
      };
      const waiter: Waiter = { revision, end };
      const timer = setTimeout(end, timeoutMs);
      log.waiters.add(waiter);
    });
  }

  /** Call it whenever more may be finished, or less. */
  endFinished(): void {
    for (const [lineage, log] of this.logs) {
      const finished = this.finished(lineage);
      if (finished === log.finished) continue;
      log.finished = finished;
      for (const { revision, end } of log.waiters) if (revision <= finished) end();
    }
  }
}
