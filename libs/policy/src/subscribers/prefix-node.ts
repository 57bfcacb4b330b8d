import { chunkOf, wordOf } from '../memory/space.js';
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

export function maxNodeWords(keyWords: number): number {
  return KEY + keyWords + 31 + 16 * (keyWords + 2);
}

/** One node, unpacked, to be changed and stored again. One editor is used for all nodes, one at a time. */
export class NodeEditor {
  position = 0;
  private readonly key: Int32Array;
  /** By heap index: the value, plus 1; 0: no such prefix is stored. */
  private readonly results = new Int32Array(32);
  /** By nibble: the address of the child; 0: there is none. */
  private readonly children = new Int32Array(16);
  /** By nibble: masked address, length, value. Length 0: there is none. */
  private readonly leaves: Int32Array;
  private readonly leafWords: number;
  private resultBits = 0;
  private linkBits = 0;

  constructor(
    private readonly arena: Arena,
    private readonly keyWords: number,
  ) {
    this.key = new Int32Array(keyWords);
    this.leafWords = keyWords + 2;
    this.leaves = new Int32Array(16 * this.leafWords);
  }

  get entryCount(): number {
    return popCount(this.resultBits) + popCount(this.linkBits);
  }

  /** An empty node at `position` of that address. */
  start(words: ArrayLike<number>, position: number): void {
    this.position = position;
    this.results.fill(0);
    this.children.fill(0);
    this.leaves.fill(0);
    this.resultBits = 0;
    this.linkBits = 0;
    for (let i = 0; i < this.keyWords; i++) {
      const kept = Math.min(Math.max(position - i * 32, 0), 32);
      this.key[i] = kept === 0 ? 0 : words[i] & (-1 << (32 - kept));
    }
  }

  hasChild(nibble: number): boolean {
    return this.children[nibble] !== 0;
  }

  child(nibble: number): number {
    return this.children[nibble];
  }

  hasLeaf(nibble: number): boolean {
    return this.leafLength(nibble) !== 0;
  }

  /** @returns the value it had; −1: it was not stored. */
  setResult(index: number, value: number): number {
    const previous = this.results[index] - 1;
    this.results[index] = value + 1;
    this.resultBits = value < 0 ? this.resultBits & ~(1 << index) : this.resultBits | (1 << index);
    return previous;
  }

  setChild(nibble: number, address: number): void {
    this.removeLeaf(nibble);
    this.children[nibble] = address;
    this.linkBits |= 1 << nibble;
  }

  setLeaf(nibble: number, words: ArrayLike<number>, length: number, value: number): void {
    this.children[nibble] = 0;
    this.linkBits = (this.linkBits & ~(1 << nibble)) | (1 << (LEAF_SHIFT + nibble));
    let at = nibble * this.leafWords;
    for (let i = 0; i < this.keyWords; i++) this.leaves[at++] = words[i];
    this.leaves[at++] = length;
    this.leaves[at] = value;
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
    if (nodePosition(length) === position) {
      return this.setResult(heapIndex(words, position, length), -1);
    }
    if (!this.isLeaf(nibble, words, length)) return -1;
    const value = this.leafValue(nibble);
    this.removeLeaf(nibble);
    return value;
  }

  /** Whether the leaf of a nibble is that prefix. */
  isLeaf(nibble: number, words: Uint32Array, length: number): boolean {
    return (
      this.leafLength(nibble) === length &&
      this.leafKey(nibble).every((word, i) => word === (words[i] | 0))
    );
  }

  leafKey(nibble: number): Int32Array {
    const at = nibble * this.leafWords;
    return this.leaves.subarray(at, at + this.keyWords);
  }

  /** 0: there is no leaf. */
  leafLength(nibble: number): number {
    return this.leaves[nibble * this.leafWords + this.keyWords];
  }

  leafValue(nibble: number): number {
    return this.leaves[nibble * this.leafWords + this.keyWords + 1];
  }

  load(address: number): void {
    const chunk = this.arena.chunks[chunkOf(address)];
    let at = wordOf(address);
    const [results, links, meta] = [chunk[at + RESULTS], chunk[at + LINKS], chunk[at + META]];
    at += KEY;
    this.start(chunk.subarray(at), meta & 0xff);
    this.resultBits = results;
    this.linkBits = links;
    at += this.keyWords;
    for (let i = 1; i < 32; i++) if ((results & (1 << i)) !== 0) this.results[i] = chunk[at++] + 1;
    for (let n = 0; n < 16; n++) if ((links & (1 << n)) !== 0) this.children[n] = chunk[at++];
    for (let n = 0; n < 16; n++) {
      if ((links & (1 << (LEAF_SHIFT + n))) === 0) continue;
      for (let i = 0; i < this.leafWords; i++) this.leaves[n * this.leafWords + i] = chunk[at++];
    }
  }

  /** Writes the node to a new block of its size. @returns its address. */
  save(): number {
    const address = this.arena.allocate(this.wordsOf(this.resultBits, this.linkBits));
    this.write(address);
    return address;
  }

  /** Writes the node in place of the one at that address. @returns its address. */
  replace(address: number): number {
    if (this.wordsAt(address) !== this.wordsOf(this.resultBits, this.linkBits)) {
      this.release(address);
      return this.save();
    }
    this.write(address);
    return address;
  }

  /** Releases the block of a node as it was last saved. */
  release(address: number): void {
    this.arena.release(address, this.wordsAt(address));
  }

  /** Replaces the node, at `nibble` of `parent`, by its only entry: a child as it is, a prefix as a leaf. */
  moveOnlyEntryTo(parent: NodeEditor, nibble: number): void {
    const { resultBits: results, linkBits: links } = this;
    const only = 31 - Math.clz32(results === 0 ? links : results);
    if (results !== 0) {
      const key = this.key.slice();
      appendHeapBits(key, this.position, only);
      parent.setLeaf(nibble, key, this.position + heapLength(only), this.results[only] - 1);
    } else if (only < LEAF_SHIFT) {
      parent.setChild(nibble, this.child(only));
    } else {
      const leaf = only - LEAF_SHIFT;
      parent.setLeaf(nibble, this.leafKey(leaf), this.leafLength(leaf), this.leafValue(leaf));
    }
  }

  private removeLeaf(nibble: number): void {
    this.leaves[nibble * this.leafWords + this.keyWords] = 0;
    this.linkBits &= ~(1 << (LEAF_SHIFT + nibble));
  }

  private write(address: number): void {
    const { results, children, leaves, key, leafWords, resultBits, linkBits } = this;
    const chunk = this.arena.own(address);
    let at = wordOf(address);
    chunk[at + RESULTS] = resultBits;
    chunk[at + LINKS] = linkBits;
    chunk[at + META] =
      this.position |
      (popCount(resultBits) << RESULT_COUNT_SHIFT) |
      (popCount(linkBits & CHILDREN_MASK) << CHILD_COUNT_SHIFT);
    at += KEY;
    for (let i = 0; i < key.length; i++) chunk[at++] = key[i];
    for (let i = 1; i < 32; i++) if (results[i] !== 0) chunk[at++] = results[i] - 1;
    for (let n = 0; n < 16; n++) if (children[n] !== 0) chunk[at++] = children[n];
    for (let n = 0; n < 16; n++) {
      if (!this.hasLeaf(n)) continue;
      for (let i = 0; i < leafWords; i++) chunk[at++] = leaves[n * leafWords + i];
    }
  }

  /** The words of the node that is stored at that address. */
  private wordsAt(address: number): number {
    const chunk = this.arena.chunks[chunkOf(address)];
    const at = wordOf(address);
    return this.wordsOf(chunk[at + RESULTS], chunk[at + LINKS]);
  }

  private wordsOf(results: number, links: number): number {
    const leaves = popCount(links >>> LEAF_SHIFT);
    const others = popCount(results) + popCount(links & CHILDREN_MASK);
    return KEY + this.keyWords + others + leaves * this.leafWords;
  }
}
