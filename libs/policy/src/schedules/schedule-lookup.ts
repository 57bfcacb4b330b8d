import { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';
import { WordMapLookup } from '../memory/word-map.js';
import { HALF_HOUR_MS, isConstant, isInside, WEEK_WORDS } from './week-bits.js';
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
class ScheduleStates {
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

/** The memory of `Schedules`. */
export interface ScheduleSpaces {
  readonly scheduleSlots: Space;
  readonly schedules: Space;
}

/** The words of a schedule. */
export const SCHEDULE_WORDS = 16;
/** Another number after each change of the record; not 0. */
export const STAMP = 0;
export const TARGET_SLOT = 1;
/** The address and the number of the periods. Only `Schedules` reads them. */
export const PERIODS = 2;
export const PERIOD_COUNT = 3;
/** The half hours of the week: see week-bits.ts. */
export const WEEK = SCHEDULE_WORDS - WEEK_WORDS;

/** The next switch is at most a week away, or two weeks when a change of the offset skips one. */
export const LOOK_AHEAD_MS = 15 * 86_400_000;

/**
 * Whether the target of a schedule decides now, and until when (decisions §5), by the `Schedules` of any thread.
 *
 * Each thread finds out the state of a schedule for itself, when it is first asked for, and keeps it until the next
 * switch. So a switch needs no writer and no timer, and is exact: a query only compares two numbers with its time.
 */
export class ScheduleLookup {
  // Set by `find`.
  /** Whether now is inside a period. */
  isInside = false;
  /** The next switch; Infinity: there will be none. */
  untilMs = Number.POSITIVE_INFINITY;
  targetSlot = -1;

  private readonly numbers: WordMapLookup;
  private readonly records: SlotRecords;
  private readonly states = new ScheduleStates();

  constructor(
    { scheduleSlots, schedules }: ScheduleSpaces,
    private readonly clock: ZoneClock,
  ) {
    this.numbers = new WordMapLookup(scheduleSlots);
    this.records = new SlotRecords(SCHEDULE_WORDS, schedules);
  }

  /** Finds the state at `clock.nowMs` of the schedule of a profile. @returns false: it has none. */
  find(profileSlot: number): boolean {
    const number = this.numbers.find(profileSlot);
    if (number < 0) return false;
    const { states } = this;
    const words = this.records.chunkOf(number);
    const at = this.records.offsetOf(number);
    if (!states.select(number, words[at + STAMP], this.clock)) this.seek(words, at + WEEK);
    this.isInside = states.isInside;
    this.untilMs = states.untilMs;
    this.targetSlot = words[at + TARGET_SLOT];
    return true;
  }

  private seek(words: Int32Array, week: number): void {
    const { clock } = this;
    const { nowMs } = clock;
    clock.seek(nowMs);
    const inside = isInside(words, week, nowMs + clock.offsetMs);
    const untilMs = isConstant(words, week)
      ? Number.POSITIVE_INFINITY
      : this.nextSwitch(words, week, inside);
    this.states.keep(inside, untilMs, nowMs);
  }

  /** Goes through the half hours of local time, and each change of the offset, until `isInside` would change. */
  private nextSwitch(words: Int32Array, week: number, inside: boolean): number {
    const { clock } = this;
    const endMs = clock.nowMs + LOOK_AHEAD_MS;
    let at = clock.nowMs;
    while (at < endMs) {
      clock.seek(at);
      const local = at + clock.offsetMs;
      const boundary = (Math.floor(local / HALF_HOUR_MS) + 1) * HALF_HOUR_MS;
      at = Math.min(boundary - clock.offsetMs, clock.untilMs);
      clock.seek(at);
      if (isInside(words, week, at + clock.offsetMs) !== inside) return at;
    }
    return at;
  }
}
