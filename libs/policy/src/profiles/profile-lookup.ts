import { ProfileFlag, RuleVerdict } from '@weir/config-model';
import { chunkOf, wordOf } from '../memory/address.js';
import { SlotRecords } from '../memory/slot-records.js';
import type { Space } from '../memory/space.js';

/** The words of a slot. */
export const SLOT_WORDS = 8;
export const ID = 0;
/** −1: the default page of the deployment. */
export const PAGE_ID = 1;
export const FLAGS = 2;
/** The address of the category ids, ascending, then (application id, verdict) pairs, ascending by id. 0: none. */
export const LISTS = 3;
export const CATEGORY_COUNT = 4;
export const APPLICATION_COUNT = 5;
/**
 * The reference of its domain rules, two words. `DomainRules` writes them; here they share a cache line with the
 * rest.
 */
export const RULES = 6;

/** The low bits of `FLAGS` are those of the row of a profile, in constants because queries read them. */
export const WHITE_LIST_ONLY = ProfileFlag.whiteListOnly;
export const EMPTY_DNS_ANSWER = ProfileFlag.emptyDnsAnswer;
export const APPAWARE_PRIORITY = ProfileFlag.appawarePriorityOverBwlists;
/** The high bits are of the slot. It stays granted when its last grant is removed. */
export const GRANTED = 1 << 28;
export const EXISTS = 1 << 29;
export const SCHEDULED = 1 << 30;

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

  /** How many categories are blocked. */
  categoryCount(slot: number): number {
    return this.records.read(slot, CATEGORY_COUNT);
  }

  /** How many application rules there are. */
  applicationCount(slot: number): number {
    return this.records.read(slot, APPLICATION_COUNT);
  }

  /**
   * Reads the first word of the lists.
   * @returns that word, to be kept, so that the compiler does not remove the read.
   */
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
