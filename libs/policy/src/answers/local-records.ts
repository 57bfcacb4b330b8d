import { type HashKey, SuffixHashes, SuffixTable } from '@weir/dns-name';
import { Type } from '@weir/dns-wire';
import {
  type LocalName,
  findSet,
  type Link,
  type LocalRewrite,
  type LocalRecord,
  faultAt,
} from './local-name.js';
import { isWildcard, readNames, type NameOfFile } from './read-names.js';

/** A name that has records, or is above one that has. */
interface Node {
  name: LocalName | null;
  /** The records of `*` below it. */
  wildcard: LocalName | null;
}

/**
 * The records of the file, by name. It is no zone: names without records are resolved as if there were no file.
 * Immutable.
 */
export class LocalRecords {
  static readonly none = new LocalRecords([], 0);

  private readonly nodes: Node[] = [];
  private readonly table: SuffixTable;

  /** @param list what it was made of */
  private constructor(
    readonly list: readonly LocalRecord[],
    capacity: number,
  ) {
    this.table = new SuffixTable(capacity);
  }

  /** @throws Error with the number of the line, when the records cannot be together */
  static of(list: readonly LocalRecord[], key: HashKey): LocalRecords {
    const names = readNames(list);
    const hashes = new SuffixHashes(key);
    const labels = names.reduce((sum, { owner }) => sum + hashes.compute(owner, 0), 0);
    const records = new LocalRecords(list, labels);
    for (const { owner, name } of names) records.add(hashes, owner, name);
    setRewrites(names, (target) => {
      hashes.compute(target, 0);
      return records.find(hashes);
    });
    return records;
  }

  /**
   * The records of a name; by RFC 4592 §2.2 and §4.3 those of a wildcard, when nothing in the file is as close to the
   * name. Null: it has none. Allocates nothing.
   * @param names the suffix hashes of the name
   */
  find(names: SuffixHashes): LocalName | null {
    if (this.nodes.length === 0) return null;
    let wildcard: LocalName | null = null;
    for (let i = 0; i < names.count; i++) {
      const index = this.table.get(names, i);
      if (index === SuffixTable.absent) return wildcard;
      const node = this.nodes[index];
      if (i === names.count - 1) return node.name;
      ({ wildcard } = node);
    }
    return null;
  }

  /** Whether there are records of names below this one. */
  isAbove(names: SuffixHashes): boolean {
    return this.table.get(names, names.count - 1) !== SuffixTable.absent;
  }

  private add(hashes: SuffixHashes, owner: Uint8Array, name: LocalName): void {
    const count = hashes.compute(owner, 0);
    for (let i = 0; i < count; i++) {
      if (this.table.get(hashes, i) !== SuffixTable.absent) continue;
      this.table.set(hashes, i, this.nodes.push({ name: null, wildcard: null }) - 1);
    }
    this.nodeOf(hashes, count - 1).name = name;
    if (isWildcard(owner)) this.nodeOf(hashes, count - 2).wildcard = name;
  }

  private nodeOf(hashes: SuffixHashes, suffix: number): Node {
    return this.nodes[this.table.get(hashes, suffix)];
  }
}

/** More CNAME records one after another are rather a mistake, and a loop has no end. */
const MAX_LINKS = 8;

/**
 * Follows the CNAME record of each name that has one.
 * @param find the name with these records, or null
 * @throws Error for a loop, or when there are too many
 */
function setRewrites(
  names: readonly NameOfFile[],
  find: (name: Uint8Array) => LocalName | null,
): void {
  for (const { line, name } of names) {
    const rewrite = follow(name, find);
    if (rewrite === TOO_LONG) {
      throw faultAt(line, `more than ${MAX_LINKS} CNAME records lead to each other`);
    }
    name.rewrite = rewrite;
  }
}

const TOO_LONG = Symbol('too long');

function follow(
  name: LocalName,
  find: (name: Uint8Array) => LocalName | null,
): LocalRewrite | null | typeof TOO_LONG {
  const links: Link[] = [];
  let rewrite: LocalRewrite | null = null;
  let owner: Uint8Array | null = null;
  let end: LocalName | null = name;
  while (end !== null) {
    const cname = findSet(end, Type.cname);
    if (cname === null) break;
    const [target] = cname.rdatas;
    links.push({ owner, ttlSeconds: cname.ttlSeconds, target });
    if (links.length > MAX_LINKS) return TOO_LONG;
    end = find(target);
    owner = target;
    rewrite = { links, target, end };
  }
  return rewrite;
}
