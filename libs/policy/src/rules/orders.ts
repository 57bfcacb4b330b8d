import { type Order, type Row, RuleVerdict, toRow } from '@weir/config-model';
import { Arena, chunkOf, wordOf } from '../memory/arena.js';
import { Space } from '../memory/space.js';
import { WordMap } from '../memory/word-map.js';
import { OrderLookup, type OrderSpaces, textEnds, textWords } from './order-lookup.js';
import { TEXTS } from './timed-rule-lookup.js';
import { TimedRules } from './timed-rules.js';

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

  /** @param from those of which the spaces were forked. */
  constructor(spaces: OrderSpaces, from?: Orders) {
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

  /** @returns the address of its texts. */
  private store({ authority, reference }: Order): number {
    const [first, second] = [encoder.encode(authority), encoder.encode(reference)];
    const ends = textEnds(first.length, second.length);
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
