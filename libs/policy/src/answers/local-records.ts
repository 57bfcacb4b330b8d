import { MAX_NEGATIVE_TTL_SECONDS, Type } from '@weir/dns-wire';
import { type HashKey, SuffixHashes, SuffixTable } from '@weir/dns-name';

/** A record of class IN. Names are wire names in lower case. */
export interface LocalRecord {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly rdata: Uint8Array;
}

/** A file with more records is refused. It is read in less than half a second; no query is forwarded meanwhile. */
export const MAX_RECORDS = 1000;

export function faultAt(line: number, problem: string): Error {
  return new Error(`line ${line}: ${problem}`);
}

interface RecordSet {
  readonly type: number;
  readonly ttlSeconds: number;
  readonly rdatas: readonly Uint8Array[];
}

export interface Link {
  /** A wire name; null: the queried name. */
  readonly owner: Uint8Array | null;
  readonly ttlSeconds: number;
  /** A wire name. */
  readonly target: Uint8Array;
}

/** The CNAME records that lead from the queried name to another one. */
export interface CnameChain {
  /** Each leads to the next one. */
  readonly links: readonly Link[];
  /** The wire name that the last of them leads to. */
  readonly target: Uint8Array;
}

export interface LocalName {
  readonly sets: readonly RecordSet[];
  /** TTL of the answer that there are no records of a type. */
  readonly negativeTtlSeconds: number;
  /** Where its CNAME record leads to. Null: it has none. Set once all names are known. */
  chain: LocalCnameChain | null;
}

interface LocalCnameChain extends CnameChain {
  /** The target, when it has records of its own. Null: it is resolved like a query for it. */
  readonly end: LocalName | null;
}

/** The records of that type, or null. Allocates nothing. */
export function findSet({ sets }: LocalName, type: number): RecordSet | null {
  for (let i = 0; i < sets.length; i++) if (sets[i].type === type) return sets[i];
  return null;
}

/** A name of the file, with the line of its first record. */
interface NameOfFile {
  readonly line: number;
  readonly owner: Uint8Array;
  readonly name: LocalName;
}

/** More than this would not fit a message together with other records. */
const MAX_SET_BYTES = 60_000;
/** Longest owner, and the fixed part of a record. */
const MAX_HEAD_BYTES = 255 + 10;

/** Groups records by owner and type. @throws Error when they cannot be together */
function readNames(records: readonly LocalRecord[]): NameOfFile[] {
  const byOwner = Map.groupBy(records, ({ owner }) => hexOf(owner));
  return [...byOwner.values()].map(readName);
}

function readName(records: readonly LocalRecord[]): NameOfFile {
  const [{ line, owner }] = records;
  const sets = [...Map.groupBy(records, ({ type }) => type).values()].map(readSet);
  const cname = records.find(({ type }) => type === Type.cname);
  if (cname !== undefined && sets.length > 1) {
    throw faultAt(cname.line, 'a name with a CNAME record cannot have other records');
  }
  const ttls = sets.map(({ ttlSeconds }) => ttlSeconds);
  const negativeTtlSeconds = Math.min(MAX_NEGATIVE_TTL_SECONDS, ...ttls);
  return { line, owner, name: { sets, negativeTtlSeconds, chain: null } };
}

/** A record that is there twice counts once, and the lowest TTL holds for all (RFC 2181 §5). */
function readSet(records: readonly LocalRecord[]): RecordSet {
  const [{ line, type }] = records;
  const distinct = new Map(records.map(({ rdata }) => [hexOf(rdata), rdata]));
  const rdatas = [...distinct.values()];
  if (type === Type.cname && rdatas.length > 1) {
    throw faultAt(records[1].line, 'a name cannot have two CNAME records');
  }
  const bytes = rdatas.reduce((sum, { length }) => sum + MAX_HEAD_BYTES + length, 0);
  if (bytes > MAX_SET_BYTES) throw faultAt(line, 'the records of one type do not fit one answer');
  return { type, ttlSeconds: Math.min(...records.map((record) => record.ttlSeconds)), rdatas };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function isWildcard(owner: Uint8Array): boolean {
  return owner[0] === 1 && owner[1] === 0x2a;
}

/** A name that has records, or is above one that has. */
interface Node {
  name: LocalName | null;
  /** The records of `*` below it. */
  wildcard: LocalName | null;
}

/** The records of the file. It is no zone: other names are resolved as if there were no file. Immutable. */
export class LocalRecords {
  static readonly none = new LocalRecords([], 0);

  private readonly table: SuffixTable<Node>;

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
    const find = (target: Uint8Array): LocalName | null => {
      hashes.compute(target, 0);
      return records.find(hashes);
    };
    for (const { line, name } of names) name.chain = follow(line, name, find);
    return records;
  }

  /**
   * The records of a name; by RFC 4592 §2.2 and §4.3 those of a wildcard, when nothing in the file is as close to the
   * name. Null: it has none. Allocates nothing.
   * @param names the suffix hashes of the name
   */
  find(names: SuffixHashes): LocalName | null {
    if (this.list.length === 0) return null;
    let wildcard: LocalName | null = null;
    for (let i = 0; i < names.count; i++) {
      const node = this.table.get(names, i);
      if (node === undefined) return wildcard;
      if (i === names.count - 1) return node.name;
      ({ wildcard } = node);
    }
    return null;
  }

  /** Whether there are records of names below this one. */
  isAbove(names: SuffixHashes): boolean {
    return this.table.get(names, names.count - 1) !== undefined;
  }

  private add(hashes: SuffixHashes, owner: Uint8Array, name: LocalName): void {
    const count = hashes.compute(owner, 0);
    for (let i = 0; i < count; i++) {
      const node = this.table.get(hashes, i) ?? { name: null, wildcard: null };
      this.table.set(hashes, i, node);
      if (i === count - 1) node.name = name;
      if (i === count - 2 && isWildcard(owner)) node.wildcard = name;
    }
  }
}

/** More CNAME records one after another are rather a mistake, and a loop has no end. */
const MAX_LINKS = 8;

/** Where the CNAME record of a name leads to; null: it has none. @throws Error for a loop, or too many links */
function follow(
  line: number,
  name: LocalName,
  find: (name: Uint8Array) => LocalName | null,
): LocalCnameChain | null {
  const links: Link[] = [];
  let chain: LocalCnameChain | null = null;
  let owner: Uint8Array | null = null;
  let end: LocalName | null = name;
  while (end !== null) {
    const cname = findSet(end, Type.cname);
    if (cname === null) break;
    const [target] = cname.rdatas;
    links.push({ owner, ttlSeconds: cname.ttlSeconds, target });
    if (links.length > MAX_LINKS) {
      throw faultAt(line, `more than ${MAX_LINKS} CNAME records lead to each other`);
    }
    end = find(target);
    owner = target;
    chain = { links, target, end };
  }
  return chain;
}
