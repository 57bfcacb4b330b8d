import { type Period, type Schedule, WEEK_POINTS } from '@weir/config-model';
import { Arena } from '../memory/arena.js';
import { SlotRecords } from '../memory/slot-records.js';
import { chunkOf, Space, wordOf } from '../memory/space.js';
import { WordMap, WordMapLookup } from '../memory/word-map.js';
import type { PolicySpaces } from '../policy-spaces.js';
import type { ZoneClock } from './zone-clock.js';

const HALF_HOUR_MS = 1_800_000;
/** Words with a bit for each half hour of a week. */
const WEEK_WORDS = Math.ceil(WEEK_POINTS / 32);
const WEEK_MS = WEEK_POINTS * HALF_HOUR_MS;
/** From Monday 00:00 to 1970-01-01, which was a Thursday. */
const EPOCH_IN_WEEK_MS = 3 * 86_400_000;

type ScheduleSpaces = Pick<PolicySpaces, 'scheduleSlots' | 'schedules'>;

const SCHEDULE_WORDS = 16;
/** Another number after each change of the record; not 0. */
const STAMP = 0;
const TARGET_SLOT = 1;
/** The address and the number of the periods. */
const PERIODS = 2;
const PERIOD_COUNT = 3;
/** The half hours of the week: see `weekBits`. */
const WEEK = SCHEDULE_WORDS - WEEK_WORDS;

/** The next switch is at most a week away, or two weeks when a change of the offset skips one. */
export const LOOK_AHEAD_MS = 15 * 86_400_000;

const CHUNK_BITS = 10;
const CHUNK_STATES = 1 << CHUNK_BITS;

/** What a thread knows of a thousand schedules by their numbers: whether now is inside a period, and for how long. */
class States {
  /** The stamp of the record that the state was made from; 0: there is no state. */
  readonly stamps = new Int32Array(CHUNK_STATES);
  readonly fromMs = new Float64Array(CHUNK_STATES);
  readonly untilMs = new Float64Array(CHUNK_STATES);
  readonly isInside = new Uint8Array(CHUNK_STATES);
}

/**
 * Whether the target of a schedule decides now, and until when (decisions §5), by the `Schedules` of any thread.
 *
 * Each thread finds out the state of a schedule for itself, when it is first asked for, and keeps it until the next
 * switch. So a switch needs no writer and no timer, and is exact: a query only compares two numbers with its time.
 */
export class ScheduleLookup {
  // Set by `find`.
  isInside = false;
  /** The next switch; Infinity: there will be none. */
  untilMs = Number.POSITIVE_INFINITY;
  targetSlot = -1;

  private readonly numbers: WordMapLookup;
  private readonly records: SlotRecords;
  /** Allocated when the first schedule of each thousand is asked for. */
  private readonly states: States[] = [];

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
    while (number >>> CHUNK_BITS >= this.states.length) this.states.push(new States());
    const states = this.states[number >>> CHUNK_BITS];
    const state = number & (CHUNK_STATES - 1);
    const words = this.records.chunkOf(number);
    const at = this.records.offsetOf(number);
    const { nowMs } = this.clock;
    const isKnown =
      states.stamps[state] === words[at + STAMP] &&
      nowMs >= states.fromMs[state] &&
      nowMs < states.untilMs[state];
    if (!isKnown) {
      this.seek(words, at + WEEK, states, state);
      states.stamps[state] = words[at + STAMP];
    }
    this.isInside = states.isInside[state] !== 0;
    this.untilMs = states.untilMs[state];
    this.targetSlot = words[at + TARGET_SLOT];
    return true;
  }

  private seek(words: Int32Array, week: number, states: States, state: number): void {
    const { clock } = this;
    clock.seek(clock.nowMs);
    const inside = isInside(words, week, clock.nowMs + clock.offsetMs);
    states.isInside[state] = inside ? 1 : 0;
    states.fromMs[state] = clock.nowMs;
    states.untilMs[state] = isConstant(words, week)
      ? Number.POSITIVE_INFINITY
      : this.nextSwitch(words, week, inside);
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

/** Which half hours of a local week are inside the periods of a schedule: bit i is week point i. */
function weekBits(periods: readonly Period[]): Int32Array {
  const bits = new Int32Array(WEEK_WORDS);
  for (const { start, end } of periods) {
    const length = end > start ? end - start : end - start + WEEK_POINTS;
    for (let i = 0; i < length; i++) {
      const point = (start + i) % WEEK_POINTS;
      bits[point >>> 5] |= 1 << (point & 31);
    }
  }
  return bits;
}

/** Whether the week that begins at `at` has all half hours inside, or all outside: then the schedule never switches. */
function isConstant(words: Int32Array, at: number): boolean {
  const first = isPointInside(words, at, 0);
  for (let point = 1; point < WEEK_POINTS; point++) {
    if (isPointInside(words, at, point) !== first) return false;
  }
  return true;
}

/** Whether a local time, in milliseconds since the epoch of that wall clock, is inside. */
function isInside(words: Int32Array, at: number, localMs: number): boolean {
  const sinceMonday = (localMs + EPOCH_IN_WEEK_MS) % WEEK_MS;
  const point = Math.floor((sinceMonday < 0 ? sinceMonday + WEEK_MS : sinceMonday) / HALF_HOUR_MS);
  return isPointInside(words, at, point);
}

function isPointInside(words: Int32Array, at: number, point: number): boolean {
  return (words[at + (point >>> 5)] & (1 << (point & 31))) !== 0;
}

const PERIOD_WORDS = 2;
/** A list of more than 512 periods has its own chunk. */
const MAX_LIST_WORDS = 1024;

/** The row of a schedule, with the slots of its profiles instead of their ids. */
export type SlotRow = number[];

/** The schedules by the slot of the profile that has one. `ScheduleLookup` reads them. */
export class Schedules {
  /** Slot → number of the record. */
  private readonly numbers: WordMap;
  private readonly records: SlotRecords;
  /** The periods, of which queries need no more than the bits of the week. */
  private readonly periods: Arena;
  private readonly periodSpace: Space;
  /** Numbers of deleted schedules, to be used again. */
  private readonly freeNumbers: number[];
  private recordCount: number;
  private stamp: number;

  constructor({ scheduleSlots, schedules }: ScheduleSpaces, from?: Schedules) {
    this.numbers = new WordMap(scheduleSlots, from?.numbers);
    this.records = new SlotRecords(SCHEDULE_WORDS, schedules);
    this.periodSpace = from?.periodSpace.forkFor(schedules.fork) ?? new Space();
    this.periods = new Arena(MAX_LIST_WORDS, this.periodSpace, from?.periods);
    this.freeNumbers = [...(from?.freeNumbers ?? [])];
    this.recordCount = from?.recordCount ?? 0;
    this.stamp = from?.stamp ?? 0;
  }

  get size(): number {
    return this.recordCount - this.freeNumbers.length;
  }

  get bytes(): number {
    return this.numbers.bytes + this.records.bytes + this.periods.bytes;
  }

  set(slot: number, { periods }: Schedule, targetSlot: number): SlotRow | null {
    const known = this.numbers.find(slot);
    const previous = known < 0 ? null : this.take(slot, known);
    const number = known < 0 ? this.newNumber(slot) : known;
    const words = this.records.own(number);
    const at = this.records.offsetOf(number);
    // 0 is no stamp. A state that some thread has kept for four thousand million changes may be taken for another.
    this.stamp = (this.stamp + 1) | 0 || 1;
    words[at + STAMP] = this.stamp;
    words[at + TARGET_SLOT] = targetSlot;
    words.set(weekBits(periods), at + WEEK);
    words[at + PERIOD_COUNT] = periods.length;
    words[at + PERIODS] = this.store(periods);
    return previous;
  }

  delete(slot: number): SlotRow | null {
    const number = this.numbers.find(slot);
    if (number < 0) return null;
    const previous = this.take(slot, number);
    this.freeNumbers.push(number);
    this.numbers.delete(slot);
    return previous;
  }

  /** @returns the address of the list; 0: it is empty. */
  private store(periods: Schedule['periods']): number {
    if (periods.length === 0) return 0;
    const address = this.periods.allocate(periods.length * PERIOD_WORDS);
    const words = this.periods.own(address);
    let at = wordOf(address);
    for (const { start, end } of periods) {
      words[at++] = start;
      words[at++] = end;
    }
    return address;
  }

  /** Reads a schedule and releases its periods. */
  private take(slot: number, number: number): SlotRow {
    const words = this.records.chunkOf(number);
    const at = this.records.offsetOf(number);
    const address = words[at + PERIODS];
    const count = words[at + PERIOD_COUNT];
    const row = [slot, words[at + TARGET_SLOT], count];
    if (count === 0) return row;
    const chunk = this.periods.chunks[chunkOf(address)];
    const first = wordOf(address);
    for (let i = 0; i < count * PERIOD_WORDS; i++) row.push(chunk[first + i]);
    this.periods.release(address, count * PERIOD_WORDS);
    return row;
  }

  private newNumber(slot: number): number {
    const number = this.freeNumbers.pop() ?? this.recordCount++;
    this.records.reserve(number);
    this.numbers.set(slot, number);
    return number;
  }
}
