import { EMPTY, filterBits, filterWord, homeSlot } from './image-format.js';
import type { Sections } from './image-sections.js';

const TWO_TO_32 = 4_294_967_296;

/** Places names in the slots of an image, and in its filter, which must be zero. */
export class SlotWriter {
  private next = 0;
  private readonly scale: number;
  private readonly filterScale: number;
  private readonly hashes: Uint32Array;
  private readonly setNumbers: Uint16Array | Uint32Array;
  private readonly filter: Int32Array;

  constructor(
    { hashes, setNumbers, filter }: Pick<Sections, 'hashes' | 'setNumbers' | 'filter'>,
    homeSlots: number,
  ) {
    this.hashes = hashes.fill(EMPTY);
    this.setNumbers = setNumbers;
    this.filter = filter;
    this.scale = homeSlots / TWO_TO_32;
    this.filterScale = filter.length / TWO_TO_32;
  }

  /** Places the next name: ascending by hash, each once. */
  place(high: number, low: number, setNumber: number): void {
    const { hashes, setNumbers, filter } = this;
    const slot = Math.max(homeSlot(high, this.scale), this.next);
    hashes[slot * 2] = high;
    hashes[slot * 2 + 1] = low;
    setNumbers[slot] = setNumber;
    filter[filterWord(low, this.filterScale)] |= filterBits(high);
    this.next = slot + 1;
  }
}
