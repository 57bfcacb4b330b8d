import type { Position } from '../protocol/protocol.js';

/** `applied` of `total` resolvers that may be answering somebody have a change in force (decisions §10). */
export interface Applied {
  readonly applied: number;
  readonly total: number;
}

/** How many live resolvers have which revision in force. Those revisions are few: all follow the head. */
export class ResolverPositions {
  /** By log and revision. There is one log, except after a restore. */
  private readonly logs = new Map<string, Map<number, number>>();
  private total = 0;

  add({ lineage, revision }: Position): void {
    const counts = this.logs.getOrInsertComputed(lineage, () => new Map<number, number>());
    counts.set(revision, (counts.get(revision) ?? 0) + 1);
    this.total++;
  }

  /** @param resolver must have been added. */
  remove({ lineage, revision }: Position): void {
    const counts = this.logs.get(lineage);
    const left = (counts?.get(revision) ?? 0) - 1;
    if (left > 0) counts?.set(revision, left);
    else counts?.delete(revision);
    if (counts?.size === 0) this.logs.delete(lineage);
    this.total--;
  }

  /** How many resolvers have the revision in force. One that follows another log has not. */
  applied({ lineage, revision }: Position): Applied {
    let applied = 0;
    for (const [one, count] of this.logs.get(lineage) ?? []) if (one >= revision) applied += count;
    return { applied, total: this.total };
  }

  /** The newest revision of a log that every resolver has in force; −1 if one follows another log. */
  common(lineage: string): number {
    if (this.total === 0) return Infinity;
    const counts = this.logs.get(lineage);
    return counts !== undefined && this.logs.size === 1 ? Math.min(...counts.keys()) : -1;
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

  /**
   * @param finished the newest revision of a log that no change has to wait for (any longer).
   * @param count the resolvers that have a position in force now.
   */
  constructor(
    private readonly finished: (lineage: string) => number,
    private readonly count: (position: Position) => Applied,
  ) {}

  /**
   * Waits until the position is finished, at most `timeoutMs`.
   * @returns the count of the moment at which the wait ended: a resolver may come in the same turn of the event loop
   */
  wait(position: Position, timeoutMs: number): Promise<Applied> {
    const { lineage, revision } = position;
    const finished = this.finished(lineage);
    if (timeoutMs <= 0 || revision <= finished) return Promise.resolve(this.count(position));
    const log = this.logs.getOrInsert(lineage, { waiters: new Set(), finished });
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        log.waiters.delete(waiter);
        if (log.waiters.size === 0) this.logs.delete(lineage);
        resolve(this.count(position));
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
