import type { Position } from '../protocol/protocol.js';
import { type Ranked, RevisionHeap } from './revision-heap.js';

interface Waiter extends Ranked {
  readonly end: () => void;
}

/** The writes that wait until followers have acknowledged their revision: by log, the lowest revision first. */
export class AcknowledgementWaits {
  private readonly logs = new Map<string, RevisionHeap<Waiter>>();

  /** @param finished the newest revision of a log that no write has to wait for (any longer). */
  constructor(private readonly finished: (lineage: string) => number) {}

  /** Resolves as soon as the position is finished, or after `timeoutMs`. */
  async wait({ lineage, revision }: Position, timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0 || revision <= this.finished(lineage)) return;
    const log = this.logs.get(lineage) ?? new RevisionHeap<Waiter>();
    this.logs.set(lineage, log);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.remove(lineage, log, waiter);
        resolve();
      }, timeoutMs);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiter: Waiter = { revision, place: 0, end };
      log.add(waiter);
    });
  }

  /** Call it when more may be finished. */
  endFinished(): void {
    for (const [lineage, log] of this.logs) {
      const finished = this.finished(lineage);
      for (
        let { first } = log;
        first !== undefined && first.revision <= finished;
        { first } = log
      ) {
        this.remove(lineage, log, first);
        first.end();
      }
    }
  }

  private remove(lineage: string, log: RevisionHeap<Waiter>, waiter: Waiter): void {
    log.remove(waiter);
    if (log.size === 0) this.logs.delete(lineage);
  }
}
