import type { ZoneClock } from './zone-clock.js';

const CHUNK_BITS = 10;
const CHUNK_STATES = 1 << CHUNK_BITS;

/** States by the number of a schedule. They take 21 bytes each. */
class StateChunk {
  /** The stamp of the record that the state was made from; 0: there is no state. */
  readonly stamps = new Int32Array(CHUNK_STATES);
  readonly fromMs = new Float64Array(CHUNK_STATES);
  readonly untilMs = new Float64Array(CHUNK_STATES);
  readonly isInside = new Uint8Array(CHUNK_STATES);
}

/**
 * What one thread knows of schedules: whether they are inside a period, and from when until when this holds. It
 * allocates nothing but room for the states of a thousand schedules when the first of them is asked for.
 */
export class ScheduleStates {
  private readonly chunks: StateChunk[] = [];
  private chunk = new StateChunk();
  private at = 0;

  /**
   * Selects the state of a schedule, to be read or kept.
   * @returns false: it is not known for this stamp and `clock.nowMs`, and must be kept.
   */
  select(number: number, stamp: number, { nowMs }: ZoneClock): boolean {
    while (number >>> CHUNK_BITS >= this.chunks.length) this.chunks.push(new StateChunk());
    const chunk = this.chunks[number >>> CHUNK_BITS];
    const at = number & (CHUNK_STATES - 1);
    this.chunk = chunk;
    this.at = at;
    if (chunk.stamps[at] === stamp && nowMs >= chunk.fromMs[at] && nowMs < chunk.untilMs[at]) {
      return true;
    }
    chunk.stamps[at] = stamp;
    return false;
  }

  keep(isInside: boolean, untilMs: number, fromMs: number): void {
    const { chunk, at } = this;
    chunk.isInside[at] = isInside ? 1 : 0;
    chunk.untilMs[at] = untilMs;
    chunk.fromMs[at] = fromMs;
  }

  get isInside(): boolean {
    return this.chunk.isInside[this.at] !== 0;
  }

  get untilMs(): number {
    return this.chunk.untilMs[this.at];
  }
}
