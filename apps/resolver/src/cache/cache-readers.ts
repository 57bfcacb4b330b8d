import { WriteSide } from '@weir/policy';

/** Milliseconds for which the writer waits for each reader. */
const MAX_NAPS = 3;
/** After tries in vain, at most so many writes are given up without a try. */
const MAX_GIVEN_UP = 64;

/** The readers of a cache in other threads, as its writer sees them. */
export class CacheReaders {
  private readonly writeSide: WriteSide;
  /** Writes to give up without a try after the next one in vain, and now. So a thread that hangs costs little time. */
  private toGiveUp = 0;
  private leftToGiveUp = 0;

  constructor(lock: SharedArrayBuffer) {
    this.writeSide = new WriteSide(lock);
  }

  /** Keeps readers out until `admit`. @returns false: one did not leave in time, and nothing may be written */
  tryExclude(): boolean {
    if (this.leftToGiveUp > 0) {
      this.leftToGiveUp--;
      return false;
    }
    const isDone = this.writeSide.tryEnter(MAX_NAPS);
    this.leftToGiveUp = isDone ? 0 : this.toGiveUp;
    this.toGiveUp = isDone ? 0 : Math.min(2 * this.toGiveUp + 1, MAX_GIVEN_UP);
    return isDone;
  }

  admit(): void {
    this.writeSide.leave();
  }
}
