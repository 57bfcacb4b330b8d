import { chunkOf, Space, wordOf } from '../memory/space.js';
import { Arena } from '../memory/arena.js';
import { commonBits, heapIndex, nibbleAt, nodePosition, popCount } from './prefix-bits.js';
import { rootOf, ROOTS } from './prefix-lookup.js';
import { KEY, LINKS, maxNodeWords, META, NodeEditor } from './prefix-node.js';

/**
 * Longest-prefix match: a radix tree of 4-bit strides with path compression, which is changed in place. STRUCTURES.md
 * says why. A nibble of a node leads to a child, or to a leaf if there is only one prefix. Every node except a root has
 * at least two entries, so positions without a branch are skipped. A change rewrites one or two nodes.
 */
export class PrefixTree {
  private readonly arena: Arena;
  /** For the node that is changed, and for a second one above or below it. */
  private readonly editor: NodeEditor;
  private readonly other: NodeEditor;
  size: number;
  private parentLink = 0;
  private readonly resultsAt: number;

  /**
   * @param keyWords words of an address, or as many of its first ones as the longest prefix needs.
   * @param rootBits a multiple of 4, at most 16: the bits that select a root. All prefixes must be longer.
   */
  constructor(
    keyWords: 1 | 2 | 4,
    private readonly rootBits = 0,
    private readonly space = new Space(),
    from?: PrefixTree,
  ) {
    this.resultsAt = KEY + keyWords;
    this.size = from?.size ?? 0;
    // The roots are the first chunk.
    if (from === undefined) space.add(1 << rootBits);
    this.arena = new Arena(maxNodeWords(keyWords), space, from?.arena);
    this.editor = new NodeEditor(this.arena, keyWords);
    this.other = new NodeEditor(this.arena, keyWords);
  }

  get bytes(): number {
    return this.arena.bytes + this.space.chunks[ROOTS].byteLength;
  }

  /**
   * Inserts a prefix, masked to `length` bits, or replaces its value.
   * @param value from 0.
   * @returns the value it had; −1: it was not stored.
   */
  set(words: Uint32Array, length: number, value: number): number {
    const { editor } = this;
    const link = this.descend(words, nodePosition(length));
    const node = this.follow(link);
    if (node === 0) editor.start(words, this.rootBits);
    else editor.load(node);
    const previous = this.setInNode(words, length, value);
    this.replace(link, node);
    if (previous < 0) this.size++;
    return previous;
  }

  /** Removes a prefix, masked to `length` bits. @returns the value it had; −1: it was not stored. */
  delete(words: Uint32Array, length: number): number {
    const { editor } = this;
    const target = nodePosition(length);
    const link = this.descend(words, target);
    const node = this.follow(link);
    if (node === 0) return -1;
    editor.load(node);
    const previous = editor.takePrefix(nibbleOf(words, editor.position), words, length);
    if (previous < 0) return -1;
    if (link >= 0 && editor.entryCount === 1) this.dissolve(node, words);
    else this.replace(link, node);
    this.size--;
    return previous;
  }

  /** The link to the lowest node on the way of a prefix, down to position `target`. `parentLink`: to the one above. */
  private descend(words: Uint32Array, target: number): number {
    let link = ~rootOf(words, this.rootBits);
    for (let node = this.follow(link); node !== 0;) {
      const position = this.positionOf(node);
      const nibble = nibbleOf(words, position);
      if (position === target || (this.read(node + LINKS) & (1 << nibble)) === 0) break;
      const childLink = this.childLink(node, nibble);
      const child = this.read(childLink);
      const childPosition = this.positionOf(child);
      if (childPosition > target || this.commonWith(child, words, childPosition) < childPosition)
        break;
      this.parentLink = link;
      link = childLink;
      node = child;
    }
    return link;
  }

  /** Adds a prefix to the node of the editor, or replaces its value. @returns the value it had; −1: it is new. */
  private setInNode(words: Uint32Array, length: number, value: number): number {
    const { editor, other } = this;
    const { position } = editor;
    const target = nodePosition(length);
    if (position === target) return editor.setResult(heapIndex(words, position, length), value);
    const nibble = nibbleOf(words, position);
    if (editor.hasLeaf(nibble)) return this.setBesideLeaf(nibble, words, length, value);
    if (!editor.hasChild(nibble)) {
      editor.setLeaf(nibble, words, length, value);
      return -1;
    }
    // The prefix leaves the way to the child: they part at a new node.
    const child = editor.child(nibble);
    const common = this.commonWith(child, words, Math.min(this.positionOf(child), target));
    other.start(words, common);
    other.setChild(this.nibbleOf(child, common), child);
    other.addPrefix(words, length, value);
    editor.setChild(nibble, other.save());
    return -1;
  }

  /** The node of the editor has a leaf at the nibble: replaces its value, or puts a node with both prefixes there. */
  private setBesideLeaf(nibble: number, words: Uint32Array, length: number, value: number): number {
    const { editor, other } = this;
    const leafValue = editor.leafValue(nibble);
    if (editor.isLeaf(nibble, words, length)) {
      editor.setLeaf(nibble, words, length, value);
      return leafValue;
    }
    const leafKey = editor.leafKey(nibble);
    const leafLength = editor.leafLength(nibble);
    const limit = Math.min(nodePosition(leafLength), nodePosition(length));
    other.start(words, commonBits(leafKey, 0, words, limit) & ~3);
    other.addPrefix(leafKey, leafLength, leafValue);
    other.addPrefix(words, length, value);
    editor.setChild(nibble, other.save());
    return -1;
  }

  /** Removes the node of the editor, which has one entry left, from the tree. */
  private dissolve(node: number, words: Uint32Array): void {
    const parent = this.follow(this.parentLink);
    this.other.load(parent);
    this.editor.moveOnlyEntryTo(this.other, nibbleOf(words, this.other.position));
    this.editor.release(node);
    this.point(this.parentLink, this.other.replace(parent));
  }

  /** Saves the node of the editor in place of `node`; 0: it is new. Only a root may be empty. */
  private replace(link: number, node: number): void {
    const { editor } = this;
    if (editor.entryCount > 0) {
      const saved = node === 0 ? editor.save() : editor.replace(node);
      if (saved !== node) this.point(link, saved);
    } else if (node !== 0) {
      editor.release(node);
      this.point(link, 0);
    }
  }

  // A link is the address of the word that points to a node, unsigned; below 0 it is ~index of a root.

  private follow(link: number): number {
    return link < 0 ? this.space.chunks[ROOTS][~link] : this.read(link);
  }

  private point(link: number, node: number): void {
    if (link < 0) this.space.own(ROOTS)[~link] = node;
    else this.arena.own(link)[wordOf(link)] = node;
  }

  private childLink(node: number, nibble: number): number {
    const before = popCount(this.read(node + LINKS) & ((1 << nibble) - 1));
    const childrenAt = node + this.resultsAt + ((this.read(node + META) >>> 8) & 0xff);
    return (childrenAt + before) >>> 0;
  }

  private positionOf(node: number): number {
    return this.read(node + META) & 0xff;
  }

  private nibbleOf(node: number, position: number): number {
    return nibbleAt(this.read(node + KEY + (position >>> 5)), position);
  }

  /** The position of the first nibble that differs between node and address, at most `limit`. */
  private commonWith(node: number, words: Uint32Array, limit: number): number {
    const chunk = this.arena.chunks[chunkOf(node)];
    return commonBits(chunk, wordOf(node) + KEY, words, limit) & ~3;
  }

  private read(address: number): number {
    return this.arena.chunks[chunkOf(address)][wordOf(address)];
  }
}

/** The four bits of an address that select an entry of a node at `position`. */
function nibbleOf(words: Uint32Array, position: number): number {
  return nibbleAt(words[position >>> 5], position);
}
