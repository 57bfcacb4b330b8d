import { type Order, type Row, RuleVerdict, toRow } from '@weir/config-model';
import { chunkOf, Space, wordOf } from '../memory/space.js';
import { Arena } from '../memory/arena.js';
import { WordMap } from '../memory/word-map.js';
import type { PolicySpaces } from '../policy-spaces.js';
import { TEXTS, TimedRuleLookup, TimedRules } from './timed-rules.js';

const LENGTH_BITS = 16;
const LENGTH_MASK = (1 << LENGTH_BITS) - 1;

export interface OrderTexts {
  readonly authority: string;
  readonly reference: string;
}

/** Searches `Orders`, in any thread. */
export class OrderLookup {
  readonly rules: TimedRuleLookup;
  private readonly texts: readonly Int32Array[];

  constructor({ orderTables, orders, orderTexts }: PolicySpaces) {
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

/** The words of the texts that begin with that word. */
function textWords(ends: number): number {
  return 1 + Math.ceil((ends >>> LENGTH_BITS) / 4);
}

/** Two texts of 200 code points in UTF-8. */
const MAX_TEXT_WORDS = 512;
const encoder = new TextEncoder();

/** The orders (decisions §14), by domain hash and by id. */
export class Orders {
  private readonly lookup: OrderLookup;
  private readonly rules: TimedRules;
  private readonly texts: Arena;
  /** Id → number of the rule. */
  private readonly numbers: WordMap;
  private readonly numberSpace: Space;

  constructor(spaces: PolicySpaces, from?: Orders) {
    const { orderTables: tables, orders: records, orderTexts } = spaces;
    this.lookup = new OrderLookup(spaces);
    this.rules = new TimedRules({ tables, records }, false, from?.rules);
    this.texts = new Arena(MAX_TEXT_WORDS, orderTexts, from?.texts);
    this.numberSpace = from?.numberSpace.forkFor(records.fork) ?? new Space();
    this.numbers = new WordMap(this.numberSpace, from?.numbers);
  }

  get size(): number {
    return this.rules.size;
  }

  /** Memory held by the table that each query looks into, in bytes. */
  get tableBytes(): number {
    return this.rules.tableBytes;
  }

  /** Memory held by all else, in bytes. */
  get bytes(): number {
    return this.rules.recordBytes + this.texts.bytes + this.numbers.bytes;
  }

  /** @returns the row of the order that was replaced; null: it is new. */
  set(order: Order): Row | null {
    const previous = this.delete(order.id);
    const { id: owner, domainHash, until } = order;
    const rule = this.rules.add({ owner, domainHash, verdict: RuleVerdict.deny, until });
    this.lookup.rules.records.write(rule, TEXTS, this.store(order));
    this.numbers.set(order.id, rule);
    return previous;
  }

  /** @returns the row of the order that was deleted; null: there was none. */
  delete(id: number): Row | null {
    const rule = this.numbers.find(id);
    if (rule < 0) return null;
    const { domainHash, until } = this.rules.read(rule);
    const row = toRow('order', { id, domainHash, until, ...this.lookup.textsOf(rule) });
    const address = this.lookup.rules.records.read(rule, TEXTS);
    const ends = this.texts.chunks[chunkOf(address)][wordOf(address)];
    this.texts.release(address, textWords(ends));
    this.rules.remove(rule);
    this.numbers.delete(id);
    return row;
  }

  private store({ authority, reference }: Order): number {
    const [first, second] = [encoder.encode(authority), encoder.encode(reference)];
    // The first word of the texts: where each ends, in bytes.
    const ends = first.length | ((first.length + second.length) << LENGTH_BITS);
    const words = textWords(ends);
    const bytes = new Uint8Array(words * 4);
    bytes.set(first, 4);
    bytes.set(second, 4 + first.length);
    const text = new Int32Array(bytes.buffer);
    text[0] = ends;
    const address = this.texts.allocate(words);
    this.texts.own(address).set(text, wordOf(address));
    return address;
  }
}
