import type { Space } from '../memory/space.js';
import { chunkOf, wordOf } from '../memory/address.js';
import { TEXTS, TimedRuleLookup } from './timed-rule-lookup.js';

/** The memory of `Orders` that queries read. */
export interface OrderSpaces {
  readonly orderTables: Space;
  readonly orders: Space;
  readonly orderTexts: Space;
}

const LENGTH_BITS = 16;
const LENGTH_MASK = (1 << LENGTH_BITS) - 1;

/** The texts of an order. */
export interface OrderTexts {
  readonly authority: string;
  readonly reference: string;
}

/** Searches `Orders`, in any thread. */
export class OrderLookup {
  readonly rules: TimedRuleLookup;
  private readonly texts: readonly Int32Array[];

  constructor({ orderTables, orders, orderTexts }: OrderSpaces) {
    this.rules = new TimedRuleLookup({ tables: orderTables, records: orders });
    this.texts = orderTexts.chunks;
  }

  /** Allocates. */
  textsOf(order: number): OrderTexts {
    const address = this.rules.records.read(order, TEXTS);
    const words = this.texts[chunkOf(address)];
    const at = wordOf(address);
    const ends = [words[at] & LENGTH_MASK, words[at] >>> LENGTH_BITS];
    // A copy, as a decoder refuses shared memory.
    const bytes = new Uint8Array(words.slice(at + 1, at + textWords(words[at])).buffer);
    const decode = (from: number, to: number): string =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to));
    return { authority: decode(0, ends[0]), reference: decode(ends[0], ends[1]) };
  }

  /** Writes the reference of an order as UTF-8, as much as fits. Allocates nothing. @returns its bytes. */
  copyReference(order: number, out: Uint8Array, offset: number): number {
    const address = this.rules.records.read(order, TEXTS);
    const words = this.texts[chunkOf(address)];
    const at = wordOf(address);
    const from = words[at] & LENGTH_MASK;
    const length = Math.min((words[at] >>> LENGTH_BITS) - from, out.length - offset);
    for (let i = 0; i < length; i++) {
      const byte = from + i;
      out[offset + i] = words[at + 1 + (byte >> 2)] >>> ((byte & 3) * 8);
    }
    return length;
  }
}

/** The first word of the texts: where each ends, in bytes. */
export function textEnds(authorityBytes: number, referenceBytes: number): number {
  return authorityBytes | ((authorityBytes + referenceBytes) << LENGTH_BITS);
}

/** The words of the texts that begin with that word. */
export function textWords(ends: number): number {
  return 1 + Math.ceil((ends >>> LENGTH_BITS) / 4);
}
