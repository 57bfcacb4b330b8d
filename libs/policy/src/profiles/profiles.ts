import {
  ALL_PROFILE_FLAGS,
  encodeProfileFlags,
  type Profile,
  ProfileFlag,
  type Row,
  RuleVerdict,
} from '@weir/config-model';
import { Arena } from '../memory/arena.js';
import { SlotRecords } from '../memory/slot-records.js';
import { chunkOf, Space, wordOf } from '../memory/space.js';
import { WordMap } from '../memory/word-map.js';

const SLOT_WORDS = 8;
const ID = 0;
/** −1: the default page of the deployment. */
const PAGE_ID = 1;
const FLAGS = 2;
/** The address of the category ids, ascending, then (application id, verdict) pairs, ascending by id. 0: none. */
const LISTS = 3;
const CATEGORY_COUNT = 4;
const APPLICATION_COUNT = 5;
/** Two words: the reference of its domain rules, by `DomainRules`, so that it is in the same cache line. */
export const RULES = 6;

/** The low bits of `FLAGS` are those of the row of a profile, in constants because queries read them. */
const WHITE_LIST_ONLY = ProfileFlag.whiteListOnly;
const EMPTY_DNS_ANSWER = ProfileFlag.emptyDnsAnswer;
const APPAWARE_PRIORITY = ProfileFlag.appawarePriorityOverBwlists;
/** The high bits are of the slot. It stays granted when its last grant is removed. */
const GRANTED = 1 << 28;
const EXISTS = 1 << 29;
const SCHEDULED = 1 << 30;

/** Reads the profiles of `Profiles` by slot, in any thread. */
export class ProfileLookup {
  /** Only `Profiles` writes them. */
  readonly records: SlotRecords;
  private readonly lists: readonly Int32Array[];

  constructor(records: Space, lists: Space) {
    this.records = new SlotRecords(SLOT_WORDS, records);
    this.lists = lists.chunks;
  }

  /** Whether the profile of a slot exists. The methods below need a profile that exists. None allocates. */
  exists(slot: number): boolean {
    return (this.records.read(slot, FLAGS) & EXISTS) !== 0;
  }

  id(slot: number): number {
    return this.records.read(slot, ID);
  }

  /** −1: the default page of the deployment. */
  pageId(slot: number): number {
    return this.records.read(slot, PAGE_ID);
  }

  isWhiteListOnly(slot: number): boolean {
    return (this.records.read(slot, FLAGS) & WHITE_LIST_ONLY) !== 0;
  }

  isEmptyDnsAnswer(slot: number): boolean {
    return (this.records.read(slot, FLAGS) & EMPTY_DNS_ANSWER) !== 0;
  }

  isAppawarePriority(slot: number): boolean {
    return (this.records.read(slot, FLAGS) & APPAWARE_PRIORITY) !== 0;
  }

  categoryCount(slot: number): number {
    return this.records.read(slot, CATEGORY_COUNT);
  }

  applicationCount(slot: number): number {
    return this.records.read(slot, APPLICATION_COUNT);
  }

  /** Reads the first word of the lists, and returns it, so that the compiler does not remove the read. */
  prefetchLists(slot: number): number {
    const address = this.records.read(slot, LISTS);
    return this.lists[chunkOf(address)][wordOf(address)];
  }

  /** `deny`: the category is blocked. 0: it is not. */
  categoryVerdict(slot: number, categoryId: number): RuleVerdict | 0 {
    const address = this.records.read(slot, LISTS);
    const lists = this.lists[chunkOf(address)];
    const at = search(lists, wordOf(address), this.categoryCount(slot), 1, categoryId);
    return at < 0 ? 0 : RuleVerdict.deny;
  }

  /** 0: no rule. */
  applicationVerdict(slot: number, applicationId: number): RuleVerdict | 0 {
    const address = this.records.read(slot, LISTS);
    const lists = this.lists[chunkOf(address)];
    const start = wordOf(address) + this.categoryCount(slot);
    const at = search(lists, start, this.applicationCount(slot), 2, applicationId);
    return at < 0 ? 0 : (lists[at + 1] as RuleVerdict);
  }

  /** Whether the profile has a schedule. Kept here so that a profile without one needs no lookup. */
  isScheduled(slot: number): boolean {
    return (this.records.read(slot, FLAGS) & SCHEDULED) !== 0;
  }

  /** Whether the profile has, or once had, a grant. */
  isGranted(slot: number): boolean {
    return (this.records.read(slot, FLAGS) & GRANTED) !== 0;
  }
}

/** The index of `value` among `count` ascending words, `stride` apart from `start`; −1: it is not among them. */
function search(
  words: Int32Array,
  start: number,
  count: number,
  stride: number,
  value: number,
): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[start + middle * stride] < value) low = middle + 1;
    else high = middle;
  }
  const at = start + low * stride;
  return low < count && words[at] === value ? at : -1;
}

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
  readonly lookup: ProfileLookup;
  private readonly records: SlotRecords;
  private readonly lists: Arena;
  private slotCount: number;
  size: number;

  constructor(records: Space, lists: Space, from?: Profiles) {
    this.lookup = new ProfileLookup(records, lists);
    this.records = this.lookup.records;
    this.lists = new Arena(MAX_LIST_WORDS, lists, from?.lists);
    this.directorySpace = from?.directorySpace.forkFor(records.fork) ?? new Space();
    this.directory = new WordMap(this.directorySpace, from?.directory);
    this.slotCount = from?.slotCount ?? 0;
    this.size = from?.size ?? 0;
  }

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

  set(profile: Profile): Row | null {
    const slot = this.slotOf(profile.id);
    const previous = this.lookup.exists(slot) ? this.remove(slot) : null;
    const { categoryIds, applicationRules } = profile;
    const kept = this.records.read(slot, FLAGS) & OF_SLOT;
    this.records.write(slot, PAGE_ID, profile.pageId ?? -1);
    this.records.write(slot, FLAGS, kept | EXISTS | encodeProfileFlags(profile));
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
    this.size++;
    return previous;
  }

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
    const head = [this.lookup.id(slot), pageId < 0 ? null : pageId, flags & ALL_PROFILE_FLAGS];
    const categories = [categoryCount, ...listed.slice(0, categoryCount)];
    const applications = [this.lookup.applicationCount(slot), ...listed.slice(categoryCount)];
    if (address !== 0) this.lists.release(address, words);
    this.records.write(slot, LISTS, 0);
    this.records.write(slot, FLAGS, flags & OF_SLOT);
    this.size--;
    return [...head, ...categories, ...applications];
  }
}
