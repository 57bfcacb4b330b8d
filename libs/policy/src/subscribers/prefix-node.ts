import { type Arena, chunkOf, wordOf } from '../memory/arena.js';
import {
  appendHeapBits,
  heapIndex,
  heapLength,
  nibbleAt,
  nodePosition,
  popCount,
} from './prefix-bits.js';

/*
 * A node of the prefix tree, in words; K is the number of words of an address: 0        results: bit h is set when
 * the prefix with heap index h (1 … 31, see prefix-bits.ts) is stored here 1        links: bit n of the low half:
 * nibble n has a child node; of the high half: nibble n has a leaf, a single prefix 2        bits 0–7 position, 8–15
 * number of results, 16–23 number of children 3 … K+2  the address, masked to `position` bits then     the value of
 * each result, by heap index then     the address of each child, by nibble then     each leaf, by nibble: its masked
 * address (K words), its length, its value
 */
export const RESULTS = 0;
export const LINKS = 1;
export const META = 2;
export const KEY = 3;
export const LEAF_SHIFT = 16;
const CHILDREN_MASK = 0xffff;

/** Words of the largest node. */
export function maxNodeWords(keyWords: number): number {
  return KEY + keyWords + 31 + 16 * (keyWords + 2);
}

/** One decoded node, to be changed and encoded again. One editor is used for all nodes, one at a time. */
export class NodeEditor {
  position = 0;
  results = 0;
  children = 0;
  leaves = 0;
  readonly key: Int32Array;
  readonly resultValues = new Int32Array(32);
  readonly childAddresses = new Int32Array(16);
  readonly leafKeys: Int32Array;
  readonly leafLengths = new Int32Array(16);
  readonly leafValues = new Int32Array(16);

  constructor(
    private readonly arena: Arena,
    private readonly keyWords: number,
  ) {
    this.key = new Int32Array(keyWords);
    this.leafKeys = new Int32Array(16 * keyWords);
  }

  /** Results, children and leaves. */
  get entryCount(): number {
    return popCount(this.results) + popCount(this.children) + popCount(this.leaves);
  }

  /** An empty node at `position` of that address. */
  start(words: ArrayLike<number>, position: number): void {
    this.position = position;
    this.results = 0;
    this.children = 0;
    this.leaves = 0;
    for (let i = 0; i < this.keyWords; i++) {
      const kept = Math.min(Math.max(position - i * 32, 0), 32);
      this.key[i] = kept === 0 ? 0 : words[i] & (-1 << (32 - kept));
    }
  }

  setResult(index: number, value: number): void {
    this.results |= 1 << index;
    this.resultValues[index] = value;
  }

  setChild(nibble: number, address: number): void {
    this.leaves &= ~(1 << nibble);
    this.children |= 1 << nibble;
    this.childAddresses[nibble] = address;
  }

  setLeaf(nibble: number, words: ArrayLike<number>, length: number, value: number): void {
    this.children &= ~(1 << nibble);
    this.leaves |= 1 << nibble;
    for (let i = 0; i < this.keyWords; i++) this.leafKeys[nibble * this.keyWords + i] = words[i];
    this.leafLengths[nibble] = length;
    this.leafValues[nibble] = value;
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
    if (nodePosition(length) === this.position) {
      const index = heapIndex(words, this.position, length);
      if ((this.results & (1 << index)) === 0) return -1;
      this.results &= ~(1 << index);
      return this.resultValues[index];
    }
    if ((this.leaves & (1 << nibble)) === 0 || !this.isLeaf(nibble, words, length)) return -1;
    this.leaves &= ~(1 << nibble);
    return this.leafValues[nibble];
  }

  /** Whether the leaf of a nibble, which must have one, is that prefix. */
  isLeaf(nibble: number, words: Uint32Array, length: number): boolean {
    if (this.leafLengths[nibble] !== length) return false;
    const start = nibble * this.keyWords;
    for (let i = 0; i < this.keyWords; i++) {
      if (this.leafKeys[start + i] !== (words[i] | 0)) return false;
    }
    return true;
  }

  leafKey(nibble: number): Int32Array {
    return this.leafKeys.subarray(nibble * this.keyWords, (nibble + 1) * this.keyWords);
  }

  load(address: number): void {
    const { keyWords } = this;
    const chunk = this.arena.chunks[chunkOf(address)];
    let at = wordOf(address);
    this.position = chunk[at + META] & 0xff;
    this.results = chunk[at + RESULTS];
    this.children = chunk[at + LINKS] & CHILDREN_MASK;
    this.leaves = chunk[at + LINKS] >>> LEAF_SHIFT;
    at += KEY;
    for (let i = 0; i < keyWords; i++) this.key[i] = chunk[at++];
    for (let i = 1; i < 32; i++) {
      if ((this.results & (1 << i)) !== 0) this.resultValues[i] = chunk[at++];
    }
    for (let n = 0; n < 16; n++) {
      if ((this.children & (1 << n)) !== 0) this.childAddresses[n] = chunk[at++];
    }
    for (let n = 0; n < 16; n++) {
      if ((this.leaves & (1 << n)) === 0) continue;
      for (let i = 0; i < keyWords; i++) this.leafKeys[n * keyWords + i] = chunk[at++];
      this.leafLengths[n] = chunk[at++];
      this.leafValues[n] = chunk[at++];
    }
  }

  /** Writes the node to a new block of its size. @returns its address. */
  save(): number {
    const { keyWords } = this;
    const address = this.arena.allocate(this.words());
    const chunk = this.arena.own(address);
    let at = wordOf(address);
    chunk[at + RESULTS] = this.results;
    chunk[at + LINKS] = this.children | (this.leaves << LEAF_SHIFT);
    chunk[at + META] =
      this.position | (popCount(this.results) << 8) | (popCount(this.children) << 16);
    at += KEY;
    for (let i = 0; i < keyWords; i++) chunk[at++] = this.key[i];
    for (let i = 1; i < 32; i++) {
      if ((this.results & (1 << i)) !== 0) chunk[at++] = this.resultValues[i];
    }
    for (let n = 0; n < 16; n++) {
      if ((this.children & (1 << n)) !== 0) chunk[at++] = this.childAddresses[n];
    }
    for (let n = 0; n < 16; n++) {
      if ((this.leaves & (1 << n)) === 0) continue;
      for (let i = 0; i < keyWords; i++) chunk[at++] = this.leafKeys[n * keyWords + i];
      chunk[at++] = this.leafLengths[n];
      chunk[at++] = this.leafValues[n];
    }
    return address;
  }

  /** Releases the block of a node as it was last saved. */
  release(address: number): void {
    const chunk = this.arena.chunks[chunkOf(address)];
    const at = wordOf(address);
    const links = chunk[at + LINKS];
    this.arena.release(
      address,
      this.wordsOf(chunk[at + RESULTS], links & CHILDREN_MASK, links >>> LEAF_SHIFT),
    );
  }

  /** Replaces the node, at `nibble` of `parent`, by its only entry: a child as it is, a prefix as a leaf. */
  moveOnlyEntryTo(parent: NodeEditor, nibble: number): void {
    if (this.children !== 0) {
      parent.setChild(nibble, this.childAddresses[31 - Math.clz32(this.children)]);
    } else if (this.leaves !== 0) {
      const leaf = 31 - Math.clz32(this.leaves);
      parent.setLeaf(nibble, this.leafKey(leaf), this.leafLengths[leaf], this.leafValues[leaf]);
    } else {
      const index = 31 - Math.clz32(this.results);
      appendHeapBits(this.key, this.position, index);
      const length = this.position + heapLength(index);
      parent.setLeaf(nibble, this.key, length, this.resultValues[index]);
    }
  }

  private words(): number {
    return this.wordsOf(this.results, this.children, this.leaves);
  }

  private wordsOf(results: number, children: number, leaves: number): number {
    const { keyWords } = this;
    return (
      KEY + keyWords + popCount(results) + popCount(children) + popCount(leaves) * (keyWords + 2)
    );
  }
}
