import type { HashKey, SuffixHashes } from '@weir/dns-name';
import { CatalogueError } from '../catalogue-error.js';
import { NameList } from '../names/name-list.js';
import { findName, type PlacedNames, placeOf, RECORD_BITS, ZoneBit } from '../names/name-places.js';
import type { ByteStream } from './list.js';
import { NeverBlock } from './never-block.js';
import { type ReadList, type ReadOptions, type VisitName, visitNames } from './read-names.js';

/** With more changed names than this, the whole zone takes less memory. */
const MAX_CHANGED = 1_000_000;

/**
 * Reads changes of a zone (RFC 1995 §4), and applies them to its list.
 * @param before the list of the version that they begin with.
 * @throws CatalogueError when they do not fit that list, and as `readNames`.
 */
export async function readChanges(
  stream: ByteStream,
  key: HashKey,
  before: PlacedNames,
  options: ReadOptions = {},
): Promise<ReadList> {
  const never = new NeverBlock(options.neverBlock ?? [], key);
  const changes = new Changes(before);
  const visit: VisitName = (hashes, line, _name, record, isRemoval) => {
    if (isRemoval) changes.remove(hashes, record);
    else changes.add(hashes, record, placeOf(line, record, never.protects(hashes, line)));
  };
  const report = await visitNames(stream, 'ixfr', key, visit, options);
  return { ...changes.finish(), report, protectedLines: never.lines };
}

/** A list, and what is different from it. */
class Changes {
  /** By hash the line of a name with the bits of `ZoneBit`; 0: it is listed no more. */
  private readonly changed = new Map<bigint, number>();

  constructor(private readonly before: PlacedNames) {}

  remove(hashes: SuffixHashes, record: number): void {
    const { hash, place } = this.find(hashes);
    if ((place & record) === 0) throw new CatalogueError('removes a record that is not there');
    const rest = place & ~record;
    this.changed.set(hash, (rest & RECORD_BITS) === 0 ? 0 : rest);
  }

  add(hashes: SuffixHashes, record: number, added: number): void {
    const { hash, place } = this.find(hashes);
    if ((place & record) !== 0) throw new CatalogueError('adds a record that is there');
    this.changed.set(hash, place === 0 ? added : place | record);
    if (this.changed.size > MAX_CHANGED) throw new CatalogueError('changes too many names');
  }

  private find({ low, high, count }: SuffixHashes): { hash: bigint; place: number } {
    const hash = (BigInt(high[count - 1]) << 32n) | BigInt(low[count - 1]);
    const known = this.changed.get(hash);
    if (known !== undefined) return { hash, place: known };
    const { at, isListed } = findName(this.before.names, low[count - 1], high[count - 1]);
    if (!isListed) return { hash, place: 0 };
    const place = this.before.places[at * 2];
    // As of a list that was stored by another format, or damaged: it may be listed by either record.
    if ((place & RECORD_BITS) === 0) {
      throw new CatalogueError('changes a name whose records are not known');
    }
    return { hash, place };
  }

  finish(): Pick<ReadList, 'names' | 'lines' | 'protectedNames'> {
    const { names, places } = this.before;
    const words = new Uint32Array((names.count + this.changed.size) * 2);
    const lines = new Uint32Array(names.count + this.changed.size);
    let from = 0;
    let count = 0;
    const keepUntil = (end: number): void => {
      words.set(names.words.subarray(from * 2, end * 2), count * 2);
      for (; from < end; from++) lines[count++] = places[from * 2];
    };
    for (const [hash, place] of [...this.changed].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [low, high] = [Number(hash & 0xffff_ffffn), Number(hash >> 32n)];
      const { at, isListed } = findName(names, low, high);
      keepUntil(at);
      if (isListed) from++;
      if (place === 0) continue;
      words.set([low, high], count * 2);
      lines[count++] = place;
    }
    keepUntil(names.count);
    return {
      names: new NameList(words.slice(0, count * 2)),
      lines: lines.slice(0, count),
      protectedNames: protectedOf(words.subarray(0, count * 2), lines),
    };
  }
}

function protectedOf(words: Uint32Array, lines: Uint32Array): NameList {
  const found: number[] = [];
  for (let at = 0; at < words.length; at += 2) {
    if ((lines[at / 2] & ZoneBit.protected) !== 0) found.push(words[at], words[at + 1]);
  }
  return new NameList(Uint32Array.from(found));
}
