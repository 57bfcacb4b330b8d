import type { Schedule } from '@weir/config-model';
import { chunkOf, Space, wordOf } from '../memory/space.js';
import { Arena } from '../memory/arena.js';
import { SlotRecords } from '../memory/slot-records.js';
import { WordMap } from '../memory/word-map.js';
import {
  PERIOD_COUNT,
  PERIODS,
  SCHEDULE_WORDS,
  type ScheduleSpaces,
  STAMP,
  TARGET_SLOT,
  WEEK,
  weekBits,
} from './schedule-lookup.js';

/** Of a period: start and end. */
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

  /** @returns the schedule that was replaced; null: it is new. */
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

  /** @returns the schedule that was deleted; null: there was none. */
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
