import { chunkOf, wordOf } from '../memory/address.js';
import type { Arena } from '../memory/arena.js';
import {
  appendHeapBits,
  heapIndex,
  heapLength,
  nibbleAt,
  nodePosition,
  popCount,
} from './prefix-bits.js';

/*
 * A node of the prefix tree, in words; K is the number of words of an address:
 *
 *     0        results: bit h is set when the prefix with heap index h (1 … 31, see prefix-bits.ts) is stored here
 *     1        links: bit n of the low half: nibble n has a child node; of the high half: it has a leaf, one prefix
 *     2        bits 0–7 position, 8–15 number of results, 16–23 number of children
 *     3 … K+2  the address, masked to `position` bits
 *     then     the value of each result, by heap index
 *     then     the address of each child, by nibble
 *     then     each leaf, by nibble: its masked address (K words), its length, its value
 */
export const RESULTS = 0;
export const LINKS = 1;
export const META = 2;
export const KEY = 3;
export const LEAF_SHIFT = 16;
const CHILDREN_MASK = 0xffff;
const RESULT_COUNT_SHIFT = 8;
const CHILD_COUNT_SHIFT = 16;

/** Words of the largest node. */
export function maxNodeWords(keyWords: number): number {
  return KEY + keyWords + 31 + 16 * (keyWords + 2);
}

/** One node in its stored form, to be changed and stored again. One editor is used for all nodes, one at a time. */
export class NodeEditor {
  private readonly words: Int32Array;
  private readonly resultsAt: number;
  private readonly leafWords: number;

  constructor(
    private readonly arena: Arena,
    private readonly keyWords: number,
  ) {
    this.words = new Int32Array(maxNodeWords(keyWords));
    this.resultsAt = KEY + keyWords;
    this.leafWords = keyWords + 2;
  }

  get position(): number {
    return this.words[META] & 0xff;
  }

  /** Results, children and leaves. */
  get entryCount(): number {
    return popCount(this.words[RESULTS]) + popCount(this.words[LINKS]);
  }

  /** An empty node at `position` of that address. */
  start(words: ArrayLike<number>, position: number): void {
    this.words[RESULTS] = 0;
    this.words[LINKS] = 0;
    this.words[META] = position;
    for (let i = 0; i < this.keyWords; i++) {
      const kept = Math.min(Math.max(position - i * 32, 0), 32);
      this.words[KEY + i] = kept === 0 ? 0 : words[i] & (-1 << (32 - kept));
    }
  }

  hasChild(nibble: number): boolean {
    return (this.words[LINKS] & (1 << nibble)) !== 0;
  }

  child(nibble: number): number {
    return this.words[this.childAt(nibble)];
  }

  hasLeaf(nibble: number): boolean {
    return (this.words[LINKS] & (1 << (LEAF_SHIFT + nibble))) !== 0;
  }

  /** @returns the value it had; −1: it was not stored. */
  setResult(index: number, value: number): number {
    const at = this.resultAt(index);
    const isNew = (this.words[RESULTS] & (1 << index)) === 0;
    const previous = isNew ? -1 : this.words[at];
    if (isNew) {
      this.splice(at, 0, 1);
      this.words[RESULTS] |= 1 << index;
      this.words[META] += 1 << RESULT_COUNT_SHIFT;
    }
    this.words[at] = value;
    return previous;
  }

  /** Also in place of a leaf. */
  setChild(nibble: number, address: number): void {
    this.removeLeaf(nibble);
    const at = this.childAt(nibble);
    if (!this.hasChild(nibble)) {
      this.splice(at, 0, 1);
      this.words[LINKS] |= 1 << nibble;
      this.words[META] += 1 << CHILD_COUNT_SHIFT;
    }
    this.words[at] = address;
  }

  /** Also in place of a child. */
  setLeaf(nibble: number, words: ArrayLike<number>, length: number, value: number): void {
    if (this.hasChild(nibble)) {
      this.splice(this.childAt(nibble), 1, 0);
      this.words[LINKS] &= ~(1 << nibble);
      this.words[META] -= 1 << CHILD_COUNT_SHIFT;
    }
    let at = this.leafAt(nibble);
    if (!this.hasLeaf(nibble)) {
      this.splice(at, 0, this.leafWords);
      this.words[LINKS] |= 1 << (LEAF_SHIFT + nibble);
    }
    for (let i = 0; i < this.keyWords; i++) this.words[at++] = words[i];
    this.words[at++] = length;
    this.words[at] = value;
  }

  /** Adds a prefix that begins with the address of the node, as a result or as a leaf. */
  addPrefix(words: ArrayLike<number>, length: number, value: number): void {
    const { position } = this;
    if (nodePosition(length) === position) {
      this.setResult(heapIndex(words, position, length), value);
    } else {
      this.setLeaf(nibbleAt(words[position >>> 5], position), words, length, value);
    }
  }

  /** Removes a prefix, a result or the leaf of a nibble. @returns its value; −1: it is not there. */
  takePrefix(nibble: number, words: Uint32Array, length: number): number {
    const { position } = this;
    if (nodePosition(length) === position)
      return this.takeResult(heapIndex(words, position, length));
    if (!this.hasLeaf(nibble) || !this.isLeaf(nibble, words, length)) return -1;
    const value = this.leafValue(nibble);
    this.removeLeaf(nibble);
    return value;
  }

  /** Whether the leaf of a nibble, which must have one, is that prefix. */
  isLeaf(nibble: number, words: Uint32Array, length: number): boolean {
    if (this.leafLength(nibble) !== length) return false;
    const at = this.leafAt(nibble);
    for (let i = 0; i < this.keyWords; i++) {
      if (this.words[at + i] !== (words[i] | 0)) return false;
    }
    return true;
  }

  leafKey(nibble: number): Int32Array {
    const at = this.leafAt(nibble);
    return this.words.subarray(at, at + this.keyWords);
  }

  leafLength(nibble: number): number {
    return this.words[this.leafAt(nibble) + this.keyWords];
  }

  leafValue(nibble: number): number {
    return this.words[this.leafAt(nibble) + this.keyWords + 1];
  }

  load(address: number): void {
    const chunk = this.arena.chunks[chunkOf(address)];
    const at = wordOf(address);
    const end = this.wordsOf(chunk[at + RESULTS], chunk[at + LINKS]);
    for (let i = 0; i < end; i++) this.words[i] = chunk[at + i];
  }

  /** Writes the node to a new block of its size. @returns its address. */
  save(): number {
    const address = this.arena.allocate(this.size);
    this.write(address);
    return address;
  }

  /** Writes the node in place of the one at that address. @returns its address. */
  replace(address: number): number {
    const chunk = this.arena.chunks[chunkOf(address)];
    const at = wordOf(address);
    if (this.wordsOf(chunk[at + RESULTS], chunk[at + LINKS]) !== this.size) {
      this.release(address);
      return this.save();
    }
    this.write(address);
    return address;
  }

  /** Releases the block of a node as it was last saved. */
  release(address: number): void {
    const chunk = this.arena.chunks[chunkOf(address)];
    const at = wordOf(address);
    this.arena.release(address, this.wordsOf(chunk[at + RESULTS], chunk[at + LINKS]));
  }

  /** Replaces the node, at `nibble` of `parent`, by its only entry: a child as it is, a prefix as a leaf. */
  moveOnlyEntryTo(parent: NodeEditor, nibble: number): void {
    const results = this.words[RESULTS];
    const links = this.words[LINKS];
    if (results !== 0) {
      const index = 31 - Math.clz32(results);
      const key = this.words.slice(KEY, KEY + this.keyWords);
      appendHeapBits(key, this.position, index);
      const length = this.position + heapLength(index);
      parent.setLeaf(nibble, key, length, this.words[this.resultAt(index)]);
      return;
    }
    const only = 31 - Math.clz32(links);
    if (only < LEAF_SHIFT) {
      parent.setChild(nibble, this.child(only));
    } else {
      const leaf = only - LEAF_SHIFT;
      parent.setLeaf(nibble, this.leafKey(leaf), this.leafLength(leaf), this.leafValue(leaf));
    }
  }

  private takeResult(index: number): number {
    if ((this.words[RESULTS] & (1 << index)) === 0) return -1;
    const at = this.resultAt(index);
    const value = this.words[at];
    this.splice(at, 1, 0);
    this.words[RESULTS] &= ~(1 << index);
    this.words[META] -= 1 << RESULT_COUNT_SHIFT;
    return value;
  }

  private removeLeaf(nibble: number): void {
    if (!this.hasLeaf(nibble)) return;
    this.splice(this.leafAt(nibble), this.leafWords, 0);
    this.words[LINKS] &= ~(1 << (LEAF_SHIFT + nibble));
  }

  private write(address: number): void {
    const { size } = this;
    const chunk = this.arena.own(address);
    const at = wordOf(address);
    for (let i = 0; i < size; i++) chunk[at + i] = this.words[i];
  }

  /** Makes room for words, or removes some, before the bitmaps say so. */
  private splice(at: number, removed: number, added: number): void {
    const { words, size } = this;
    if (added > 0) for (let i = size - 1; i >= at; i--) words[i + added] = words[i];
    else for (let i = at + removed; i < size; i++) words[i - removed] = words[i];
  }

  private get size(): number {
    return this.wordsOf(this.words[RESULTS], this.words[LINKS]);
  }

  // Where an entry is, or would be.

  private resultAt(index: number): number {
    return this.resultsAt + popCount(this.words[RESULTS] & ((1 << index) - 1));
  }

  private childAt(nibble: number): number {
    const before = popCount(this.words[LINKS] & ((1 << nibble) - 1));
    return this.resultsAt + ((this.words[META] >>> RESULT_COUNT_SHIFT) & 0xff) + before;
  }

  private leafAt(nibble: number): number {
    const meta = this.words[META];
    const before = popCount((this.words[LINKS] >>> LEAF_SHIFT) & ((1 << nibble) - 1));
    const leavesAt =
      this.resultsAt + ((meta >>> RESULT_COUNT_SHIFT) & 0xff) + (meta >>> CHILD_COUNT_SHIFT);
    return leavesAt + before * this.leafWords;
  }

  private wordsOf(results: number, links: number): number {
    const leaves = popCount(links >>> LEAF_SHIFT);
    return (
      this.resultsAt + popCount(results) + popCount(links & CHILDREN_MASK) + leaves * this.leafWords
    );
  }
}
