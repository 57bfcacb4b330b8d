import type { Position } from '../protocol/protocol.js';

interface Waiter {
  readonly position: Position;
  readonly end: () => void;
  timer?: NodeJS.Timeout;
}

/** The writes that wait until followers have acknowledged their revision. */
export class AcknowledgementWaits {
  private readonly waiters = new Set<Waiter>();

  /** @param isFinished whether a write of this position need not wait (any longer). */
  constructor(private readonly isFinished: (position: Position) => boolean) {}

  /** Resolves as soon as the position is finished, or after `timeoutMs`. */
  async wait(position: Position, timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0 || this.isFinished(position)) return;
    await new Promise<void>((resolve) => {
      const waiter: Waiter = { position, end: resolve };
      waiter.timer = setTimeout(() => {
        this.waiters.delete(waiter);
        resolve();
      }, timeoutMs);
      this.waiters.add(waiter);
    });
  }

  /** Call it when more positions may be finished. */
  endFinished(): void {
    for (const waiter of this.waiters) {
      if (!this.isFinished(waiter.position)) continue;
      this.waiters.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.end();
    }
  }
}
