import { ALL_PROFILE_FLAGS, type Profile, type Row, toRow } from '@weir/config-model';
import { chunkOf, wordOf } from '../memory/address.js';
import { Arena } from '../memory/arena.js';
import type { SlotRecords } from '../memory/slot-records.js';
import { Space } from '../memory/space.js';
import { WordMap } from '../memory/word-map.js';
import {
  APPLICATION_COUNT,
  CATEGORY_COUNT,
  EXISTS,
  FLAGS,
  GRANTED,
  ID,
  LISTS,
  PAGE_ID,
  ProfileLookup,
  SCHEDULED,
} from './profile-lookup.js';

const MAX_LIST_WORDS = 4096;
/** The flags that do not depend on the profile. */
const OF_SLOT = SCHEDULED | GRANTED;

/**
 * Profiles by slot. An id gets a slot when it is first mentioned, and keeps it: slots count from 0 and are never
 * reused. So networks, rules and schedules refer to slots. They may refer to a profile that does not exist yet, or no
 * longer.
 */
export class Profiles {
  /** Id → slot. */
  private readonly directory: WordMap;
  private readonly directorySpace: Space;
  /** Reads the profiles. */
  readonly lookup: ProfileLookup;
  private readonly records: SlotRecords;
  private readonly lists: Arena;
  private slotCount: number;
  private count: number;

  /** @param from those of which the spaces were forked. */
  constructor(records = new Space(), lists = new Space(), from?: Profiles) {
    this.lookup = new ProfileLookup(records, lists);
    this.records = this.lookup.records;
    this.lists = new Arena(MAX_LIST_WORDS, lists, from?.lists);
    this.directorySpace = from?.directorySpace.forkFor(records.fork) ?? new Space();
    this.directory = new WordMap(this.directorySpace, from?.directory);
    this.slotCount = from?.slotCount ?? 0;
    this.count = from?.count ?? 0;
  }

  get size(): number {
    return this.count;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.records.bytes + this.directory.bytes + this.lists.bytes;
  }

  /** The slot of an id; −1: it has none. */
  findSlot(id: number): number {
    return this.directory.find(id);
  }

  /** The slot of an id; gives it one if it has none. */
  slotOf(id: number): number {
    const known = this.findSlot(id);
    if (known >= 0) return known;
    const slot = this.slotCount++;
    this.records.reserve(slot);
    this.records.write(slot, ID, id);
    this.directory.set(id, slot);
    return slot;
  }

  /** @returns the row of the profile that was replaced; null: it is new. */
  set(profile: Profile): Row | null {
    const slot = this.slotOf(profile.id);
    const previous = this.lookup.exists(slot) ? this.remove(slot) : null;
    const { categoryIds, applicationRules } = profile;
    const [, pageId, flags] = toRow('profile', profile);
    this.records.write(slot, PAGE_ID, pageId ?? -1);
    this.records.write(
      slot,
      FLAGS,
      (this.records.read(slot, FLAGS) & OF_SLOT) | EXISTS | (flags ?? 0),
    );
    this.records.write(slot, CATEGORY_COUNT, categoryIds.length);
    this.records.write(slot, APPLICATION_COUNT, applicationRules.length);
    const words = [
      ...categoryIds,
      ...applicationRules.flatMap((rule) => [rule.applicationId, rule.verdict]),
    ];
    if (words.length > 0) {
      const address = this.lists.allocate(words.length);
      this.lists.own(address).set(words, wordOf(address));
      this.records.write(slot, LISTS, address);
    }
    this.count++;
    return previous;
  }

  /** @returns the row of the profile that was deleted; null: there was none. */
  delete(id: number): Row | null {
    const slot = this.findSlot(id);
    return slot < 0 || !this.lookup.exists(slot) ? null : this.remove(slot);
  }

  setScheduled(slot: number, isScheduled: boolean): void {
    const others = this.records.read(slot, FLAGS) & ~SCHEDULED;
    this.records.write(slot, FLAGS, isScheduled ? others | SCHEDULED : others);
  }

  setGranted(slot: number): void {
    this.records.write(slot, FLAGS, this.records.read(slot, FLAGS) | GRANTED);
  }

  /** Empties the slot of its profile. @returns the profile's row. */
  private remove(slot: number): Row {
    const address = this.records.read(slot, LISTS);
    const categoryCount = this.lookup.categoryCount(slot);
    const words = categoryCount + 2 * this.lookup.applicationCount(slot);
    const at = wordOf(address);
    const listed = Array.from(this.lists.chunks[chunkOf(address)].subarray(at, at + words));
    const pageId = this.lookup.pageId(slot);
    const flags = this.records.read(slot, FLAGS);
    const row = [
      ...[
        this.lookup.id(slot),
        pageId < 0 ? null : pageId,
        flags & ALL_PROFILE_FLAGS,
        categoryCount,
      ],
      ...[...listed.slice(0, categoryCount), this.lookup.applicationCount(slot)],
      ...listed.slice(categoryCount),
    ];
    if (address !== 0) this.lists.release(address, words);
    this.records.write(slot, LISTS, 0);
    this.records.write(slot, FLAGS, flags & OF_SLOT);
    this.count--;
    return row;
  }
}
