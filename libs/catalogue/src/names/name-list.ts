import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { crc32 } from 'node:zlib';
import { CatalogueError } from '../catalogue-error.js';
import { findName, linesOf } from './name-places.js';

/**
 * Identifies a hash key without revealing it: 32 bits of the hash of a fixed name. An image compiled under another key
 * would match nothing, so nothing would be blocked.
 */
export function keyCheck(key: HashKey): number {
  const hashes = new SuffixHashes(key);
  return hashes.high[hashes.compute(toWireName('key-check.invalid'), 0) - 1];
}

/** `WEIRNAM\n` */
const MAGIC = Uint8Array.of(0x57, 0x45, 0x49, 0x52, 0x4e, 0x41, 0x4d, 0x0a);
const VERSION = 1;
/** In front of the names in the stored form of a list. */
export const HEADER_BYTES = 32;
/** Offsets of the header's unsigned 32-bit little-endian fields. */
const Header = { version: 8, checksum: 12, keyCheck: 16, count: 20 } as const;
const CHECKED_FROM = 16;
/** Of a name in the stored form of a list. */
export const HASH_BYTES = 8;
const FIRST_CAPACITY = 1024;

/**
 * Distinct names as their 64-bit keyed hashes, ascending: what a list holds, without a domain in plain. Immutable,
 * unless the caller writes to `words`.
 */
export class NameList {
  /**
   * @param words two a name, its hash's low 32 bits and then the high 32 bits; ascending by hash, no hash twice. The
   *   caller must not use them afterwards.
   */
  constructor(readonly words: Uint32Array<ArrayBuffer>) {}

  get count(): number {
    return this.words.length / 2;
  }

  /** A list of domains in normal form, given in any order, with duplicates or not. */
  static of(domains: Iterable<string>, key: HashKey): NameList {
    const hashes = new SuffixHashes(key);
    const builder = new NameListBuilder();
    for (const domain of domains) builder.add(hashes, hashes.compute(toWireName(domain), 0) - 1);
    return builder.finish();
  }

  /** A list of unsorted words, two for each name. Sorts them in place; the caller must not use them afterwards. */
  static ofUnsorted(words: Uint32Array<ArrayBuffer>): NameList {
    const hashes = new BigUint64Array(words.buffer, words.byteOffset, words.length / 2).sort();
    let count = Math.min(1, hashes.length);
    for (let at = 2; at < words.length; at += 2) {
      const last = count * 2 - 2;
      if (words[at] === words[last] && words[at + 1] === words[last + 1]) continue;
      words[count * 2] = words[at];
      words[count * 2 + 1] = words[at + 1];
      count++;
    }
    return new NameList(words.subarray(0, count * 2));
  }

  /** This list without the names of another, which is small. */
  without(other: NameList): NameList {
    const gone: number[] = [];
    for (let at = 0; at < other.words.length; at += 2) {
      const found = findName(this, other.words[at], other.words[at + 1]);
      if (found.isListed) gone.push(found.at);
    }
    if (gone.length === 0) return this;
    const words = new Uint32Array(this.words.length - gone.length * 2);
    let from = 0;
    let to = 0;
    for (const at of [...gone, this.count]) {
      words.set(this.words.subarray(from * 2, at * 2), to * 2);
      to += at - from;
      from = at + 1;
    }
    return new NameList(words);
  }

  /** The stored form: 32 bytes of header, 8 bytes for each name. */
  toBytes(key: HashKey): Uint8Array<ArrayBuffer> {
    const { words } = this;
    const bytes = new Uint8Array(HEADER_BYTES + words.byteLength);
    bytes.set(MAGIC);
    bytes.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), HEADER_BYTES);
    const header = new DataView(bytes.buffer, 0, HEADER_BYTES);
    header.setUint32(Header.version, VERSION, true);
    header.setUint32(Header.keyCheck, keyCheck(key), true);
    header.setUint32(Header.count, this.count, true);
    header.setUint32(Header.checksum, crc32(bytes.subarray(CHECKED_FROM)), true);
    return bytes;
  }

  /** @throws CatalogueError for any bytes that `toBytes` did not return under the same key. */
  static fromBytes(bytes: Uint8Array, key: HashKey): NameList {
    const begins = bytes.length >= HEADER_BYTES && MAGIC.every((byte, i) => bytes[i] === byte);
    check(begins, 'it does not begin as one');
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
    const field = (name: keyof typeof Header): number => view.getUint32(Header[name], true);
    check(field('version') === VERSION, `its format version is ${field('version')}`);
    const { length } = bytes;
    check(length === HEADER_BYTES + field('count') * HASH_BYTES, 'it is not as long as it says');
    check(crc32(bytes.subarray(CHECKED_FROM)) === field('checksum'), 'its checksum is wrong');
    check(field('keyCheck') === keyCheck(key), 'it was made under another DOMAIN_HASH_KEY');
    // A copy, which is aligned and does not belong to the caller.
    return new NameList(new Uint32Array(bytes.slice(HEADER_BYTES).buffer));
  }
}

/** Collects names for a list, 8 bytes each, and 4 for its line. */
export class NameListBuilder {
  private words = new Uint32Array(FIRST_CAPACITY * 2);
  private lines = new Uint32Array(FIRST_CAPACITY);
  private used = 0;

  /** Names added so far, duplicates included. */
  get count(): number {
    return this.used / 2;
  }

  /** Adds the name whose hash has that index in `hashes`. */
  add(hashes: SuffixHashes, suffix: number, line = 0): void {
    if (this.used === this.words.length) {
      this.words = new Uint32Array(this.words.buffer.transfer(this.words.byteLength * 2));
      this.lines = new Uint32Array(this.lines.buffer.transfer(this.lines.byteLength * 2));
    }
    this.lines[this.used / 2] = line;
    this.words[this.used++] = hashes.low[suffix];
    this.words[this.used++] = hashes.high[suffix];
  }

  /** The list of all names added. The builder is empty afterwards. */
  finish(): NameList {
    const words = new Uint32Array(this.words.buffer.transfer(this.used * 4));
    this.words = new Uint32Array(FIRST_CAPACITY * 2);
    this.lines = new Uint32Array(FIRST_CAPACITY);
    this.used = 0;
    return NameList.ofUnsorted(words);
  }

  /** The same with the first line of each name, in the order of the list. */
  finishWithLines(): { readonly names: NameList; readonly lines: Uint32Array<ArrayBuffer> } {
    const collected = this.words.slice(0, this.used);
    const lines = this.lines.subarray(0, this.used / 2);
    const names = this.finish();
    return { names, lines: linesOf(names, collected, lines) };
  }
}

function check(isValid: boolean, problem: string): void {
  if (!isValid) throw new CatalogueError(`not a usable name list: ${problem}`);
}
