import type { HashKey } from '@weir/dns-name';
import { crc32 } from 'node:zlib';
import { CatalogueError } from '../catalogue-error.js';
import { keyCheck } from '../names/name-list.js';
import {
  CHECKED_FROM,
  FILTER_BITS,
  FORMAT_VERSION,
  Header,
  HEADER_BYTES,
  homeSlot,
  LOAD,
  MAGIC,
  MAX_SHORT_SET_NUMBER,
  type Names,
  SlotWriter,
  TWO_TO_32,
} from './image-format.js';
import type { NameMerge } from './name-merge.js';

/**
 * Distinct combinations of categories and applications, each stored once and numbered from 1 in order of appearance.
 * Groups go by index: categories ascending by id, then applications ascending by id.
 */
export class MembershipSets {
  /** Position of each set in `words`, by number; number 0 is no set. */
  readonly positions: number[] = [0];
  /** See `CatalogueIndex.memberships`. Position 0 is no set. */
  readonly words: number[] = [0];
  /** By group: the number of the set of that group alone, the most frequent case; 0: there is none yet. */
  private readonly alone: Uint32Array;
  private readonly numbers = new Map<string, number>();

  /** @param ids of the groups. */
  constructor(
    private readonly ids: readonly number[],
    private readonly categoryCount: number,
  ) {
    this.alone = new Uint32Array(ids.length);
  }

  /** The number of the set of the first `count` of `groups`: at least one, ascending, each once. */
  number(groups: Uint32Array, count: number): number {
    if (count === 1) {
      const [group] = groups;
      if (this.alone[group] === 0) this.alone[group] = this.add(groups, 1);
      return this.alone[group];
    }
    const key = groups.subarray(0, count).join();
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const number = this.add(groups, count);
    this.numbers.set(key, number);
    return number;
  }

  private add(groups: Uint32Array, count: number): number {
    const members = [...groups.subarray(0, count)];
    const categories = members.filter((group) => group < this.categoryCount).length;
    this.positions.push(this.words.length);
    this.words.push(categories, count - categories, ...members.map((group) => this.ids[group]));
    return this.positions.length - 1;
  }
}

const MAX_IMAGE_BYTES = 0xffff_ffff;

/** The names to write. `merge` is read several times, as the names may be too many to hold. */
interface NamesToWrite {
  readonly merge: NameMerge;
  readonly sets: MembershipSets;
  /** Distinct names. */
  readonly count: number;
}

/** Writes an image. @throws CatalogueError when it would exceed 4 GiB. */
export function writeImage(
  { merge, sets, count }: NamesToWrite,
  names: Names,
  key: HashKey,
): Uint8Array<ArrayBuffer> {
  const homeSlots = Math.max(1, Math.ceil(count / LOAD));
  const slotCount = countSlots(merge, homeSlots);
  const { positions, words } = sets;
  const setNumberBytes = positions.length - 1 > MAX_SHORT_SET_NUMBER ? 4 : 2;
  const namesJson = new TextEncoder().encode(JSON.stringify(names));

  const hashesOffset = HEADER_BYTES;
  const setNumbersOffset = hashesOffset + slotCount * 8;
  const setPositionsOffset = aligned(setNumbersOffset + slotCount * setNumberBytes);
  const membershipsOffset = setPositionsOffset + positions.length * 4;
  const filterOffset = membershipsOffset + words.length * 4;
  const filterWords = Math.max(1, Math.ceil((count * FILTER_BITS) / 32));
  const namesOffset = filterOffset + filterWords * 4;
  const totalBytes = aligned(namesOffset + namesJson.length);
  if (totalBytes > MAX_IMAGE_BYTES) throw new CatalogueError('the image would exceed 4 GiB');

  const image = new Uint8Array(totalBytes);
  const { buffer } = image;
  const ShortOrLong = setNumberBytes === 2 ? Uint16Array : Uint32Array;
  const slots = new SlotWriter(
    {
      hashes: new Uint32Array(buffer, hashesOffset, slotCount * 2),
      setNumbers: new ShortOrLong(buffer, setNumbersOffset, slotCount),
      filter: new Int32Array(buffer, filterOffset, filterWords),
    },
    homeSlots,
  );
  for (merge.restart(); merge.next();) {
    slots.place(merge.high, merge.low, sets.number(merge.owners, merge.ownerCount));
  }
  new Uint32Array(buffer, setPositionsOffset, positions.length).set(positions);
  new Uint32Array(buffer, membershipsOffset, words.length).set(words);
  image.set(namesJson, namesOffset);
  image.set(MAGIC);

  const header = new DataView(buffer, 0, HEADER_BYTES);
  const put = (field: keyof typeof Header, value: number): void => {
    header.setUint32(Header[field], value, true);
  };
  put('version', FORMAT_VERSION);
  put('totalBytes', totalBytes);
  put('keyCheck', keyCheck(key));
  put('domainCount', count);
  put('homeSlots', homeSlots);
  put('slotCount', slotCount);
  put('setNumberBytes', setNumberBytes);
  put('setCount', positions.length);
  put('hashesOffset', hashesOffset);
  put('setNumbersOffset', setNumbersOffset);
  put('setPositionsOffset', setPositionsOffset);
  put('membershipsOffset', membershipsOffset);
  put('membershipsWords', words.length);
  put('namesOffset', namesOffset);
  put('namesBytes', namesJson.length);
  put('filterOffset', filterOffset);
  put('filterWords', filterWords);
  put('checksum', crc32(image.subarray(CHECKED_FROM)));
  return image;
}

/** A name is in its home slot or in the first free one after it. Ascending hashes have ascending slots. */
function countSlots(merge: NameMerge, homeSlots: number): number {
  const scale = homeSlots / TWO_TO_32;
  let next = 0;
  for (merge.restart(); merge.next();) next = Math.max(homeSlot(merge.high, scale), next) + 1;
  return Math.max(homeSlots, next) + 1;
}

function aligned(offset: number): number {
  return Math.ceil(offset / 4) * 4;
}
