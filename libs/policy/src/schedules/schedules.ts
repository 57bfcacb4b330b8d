import { type Row, type Schedule, toRow } from '@weir/config-model';
import { SlotRecords } from '../memory/slot-records.js';
import { Space } from '../memory/space.js';
import { WordMap } from '../memory/word-map.js';
import {
  SCHEDULE_WORDS,
  type ScheduleSpaces,
  STAMP,
  TARGET_SLOT,
  WEEK,
} from './schedule-lookup.js';
import { weekBits } from './week-bits.js';

/** The schedules by the slot of the profile that has one. `ScheduleLookup` reads them. */
export class Schedules {
  /** Slot → number of the record. */
  private readonly numbers: WordMap;
  private readonly records: SlotRecords;
  private readonly rows = new Map<number, Row>();
  /** Numbers of deleted schedules, to be used again. */
  private readonly freeNumbers: number[] = [];
  private recordCount = 0;
  private stamp = 0;

  constructor(
    { scheduleSlots, schedules }: ScheduleSpaces = {
      scheduleSlots: new Space(),
      schedules: new Space(),
    },
  ) {
    this.numbers = new WordMap(scheduleSlots);
    this.records = new SlotRecords(SCHEDULE_WORDS, schedules);
  }

  get size(): number {
    return this.rows.size;
  }

  /** Memory held, in bytes, without the rows. */
  get bytes(): number {
    return this.numbers.bytes + this.records.bytes;
  }

  /** @returns the row that the schedule had; null: it is new. */
  set(slot: number, schedule: Schedule, targetSlot: number): Row | null {
    const previous = this.rows.get(slot) ?? null;
    this.rows.set(slot, toRow('schedule', schedule));
    const number = previous === null ? this.newNumber(slot) : this.numbers.find(slot);
    const words = this.records.chunkOf(number);
    const at = this.records.offsetOf(number);
    // 0 is no stamp. A state that some thread has kept for four thousand million changes may be taken for another.
    this.stamp = (this.stamp + 1) | 0 || 1;
    words[at + STAMP] = this.stamp;
    words[at + TARGET_SLOT] = targetSlot;
    words.set(weekBits(schedule.periods), at + WEEK);
    return previous;
  }

  /** @returns the row that the schedule had; null: there was none. */
  delete(slot: number): Row | null {
    const previous = this.rows.get(slot) ?? null;
    if (previous === null) return null;
    this.rows.delete(slot);
    this.freeNumbers.push(this.numbers.find(slot));
    this.numbers.delete(slot);
    return previous;
  }

  private newNumber(slot: number): number {
    const number = this.freeNumbers.pop() ?? this.recordCount++;
    this.records.reserve(number);
    this.numbers.set(slot, number);
    return number;
  }
}
