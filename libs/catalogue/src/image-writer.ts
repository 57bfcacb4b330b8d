import { crc32 } from 'node:zlib';
import type { HashKey } from '@weir/dns-name';
import { CatalogueError } from './catalogue-error.js';
import {
  CHECKED_FROM,
  EMPTY,
  FILTER_BITS,
  filterBits,
  filterWord,
  FORMAT_VERSION,
  Header,
  HEADER_BYTES,
  homeSlot,
  LOAD,
  MAGIC,
  MAX_SHORT_SET_NUMBER,
  type Names,
} from './image-format.js';
import { keyCheck } from './key-check.js';
import type { MembershipSets } from './membership-sets.js';

const MAX_IMAGE_BYTES = 0xffff_ffff;
const TWO_TO_32 = 4_294_967_296;

/** The distinct names, ascending by hash, each with the number of its membership set. */
export interface NamedSlots {
  readonly count: number;
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly setNumber: Uint32Array;
  readonly sets: MembershipSets;
}

/** Lays the names out as an image; `slots` are ascending by hash. */
export function writeImage(slots: NamedSlots, names: Names, key: HashKey): Uint8Array<ArrayBuffer> {
  const homeSlots = Math.max(1, Math.ceil(slots.count / LOAD));
  const slotOf = place(slots, homeSlots);
  const slotCount = Math.max(homeSlots, (slotOf.at(-1) ?? -1) + 1) + 1;
  const { positions, words } = slots.sets;
  const setNumberBytes = positions.length - 1 > MAX_SHORT_SET_NUMBER ? 4 : 2;
  const namesJson = new TextEncoder().encode(JSON.stringify(names));

  const hashesOffset = HEADER_BYTES;
  const setNumbersOffset = hashesOffset + slotCount * 8;
  const setPositionsOffset = aligned(setNumbersOffset + slotCount * setNumberBytes);
  const membershipsOffset = setPositionsOffset + positions.length * 4;
  const filterOffset = membershipsOffset + words.length * 4;
  const filterWords = Math.max(1, Math.ceil((slots.count * FILTER_BITS) / 32));
  const namesOffset = filterOffset + filterWords * 4;
  const totalBytes = aligned(namesOffset + namesJson.length);
  if (totalBytes > MAX_IMAGE_BYTES) throw new CatalogueError('the image would exceed 4 GiB');

  const image = new Uint8Array(totalBytes);
  const { buffer } = image;
  const hashes = new Uint32Array(buffer, hashesOffset, slotCount * 2).fill(EMPTY);
  const ShortOrLong = setNumberBytes === 2 ? Uint16Array : Uint32Array;
  const setNumbers = new ShortOrLong(buffer, setNumbersOffset, slotCount);
  slotOf.forEach((slot, i) => {
    hashes[slot * 2] = slots.high[i];
    hashes[slot * 2 + 1] = slots.low[i];
    setNumbers[slot] = slots.setNumber[i];
  });
  new Uint32Array(buffer, setPositionsOffset, positions.length).set(positions);
  new Uint32Array(buffer, membershipsOffset, words.length).set(words);
  fillFilter(new Int32Array(buffer, filterOffset, filterWords), slots);
  image.set(namesJson, namesOffset);
  image.set(MAGIC);

  const header = new DataView(buffer, 0, HEADER_BYTES);
  const put = (field: keyof typeof Header, value: number): void => {
    header.setUint32(Header[field], value, true);
  };
  put('version', FORMAT_VERSION);
  put('totalBytes', totalBytes);
  put('keyCheck', keyCheck(key));
  put('domainCount', slots.count);
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

/** The slot of each name: its home, or the first free one after it. Ascending hashes make ascending slots. */
function place(slots: NamedSlots, homeSlots: number): Uint32Array {
  const scale = homeSlots / TWO_TO_32;
  const slotOf = new Uint32Array(slots.count);
  let next = 0;
  for (let i = 0; i < slots.count; i++) {
    slotOf[i] = Math.max(homeSlot(slots.high[i], scale), next);
    next = slotOf[i] + 1;
  }
  return slotOf;
}

function fillFilter(filter: Int32Array, { count, high, low }: NamedSlots): void {
  const scale = filter.length / TWO_TO_32;
  for (let i = 0; i < count; i++) filter[filterWord(low[i], scale)] |= filterBits(high[i]);
}

function aligned(offset: number): number {
  return Math.ceil(offset / 4) * 4;
}
