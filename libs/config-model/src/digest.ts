import { ENTITY_KINDS, type EntityKind } from './entities.js';
import { FLAT_NULL, type FlatRows } from './flat-rows.js';
import type { Row } from './rows.js';

/** Digest of a configuration without entities. */
export const EMPTY_DIGEST = '0000000000000000';

const LANE_SEEDS = [0x57656972, 0x9e3779b9] as const;
const TWO_TO_32 = 4_294_967_296;
const KIND_NUMBERS = Object.fromEntries(ENTITY_KINDS.map((kind, i) => [kind, i])) as Record<
  EntityKind,
  number
>;
/** Result of `hashRow`: a hash for each lane. */
const HASHES = new Int32Array(LANE_SEEDS.length);
let BUFFER = new Float64Array(64);

/**
 * Digest of a whole configuration: two 32-bit lanes, each the sum (mod 2³²) of the hashes of all entities under the
 * lane's seed. A sum does not depend on order and is updated entity by entity. So both ends of the change feed can
 * keep it at almost no cost and compare it at every revision. It detects accidents, such as a change that was lost
 * or applied twice. It is not cryptographic: it does not protect against attackers.
 */
export class Digest {
  private readonly lanes = new Uint32Array(LANE_SEEDS.length);

  /** @param hex 16 hex digits, as `toString` gives them. */
  static parse(hex: string): Digest {
    if (!/^[0-9a-f]{16}$/.test(hex)) throw new RangeError('a digest is 16 hex digits');
    const digest = new Digest();
    digest.lanes[0] = Number.parseInt(hex.slice(0, 8), 16);
    digest.lanes[1] = Number.parseInt(hex.slice(8), 16);
    return digest;
  }

  /** Adds an entity. `row` is its row (`toRow`). */
  add(kind: EntityKind, row: Row): void {
    hashRow(kind, row);
    this.lanes[0] += HASHES[0];
    this.lanes[1] += HASHES[1];
  }

  addAll(kind: EntityKind, { values, ends }: FlatRows): void {
    let start = 0;
    for (let i = 0; i < ends.length; i++) {
      hashValues(kind, values, start, ends[i]);
      this.lanes[0] += HASHES[0];
      this.lanes[1] += HASHES[1];
      start = ends[i];
    }
  }

  remove(kind: EntityKind, row: Row): void {
    hashRow(kind, row);
    this.lanes[0] -= HASHES[0];
    this.lanes[1] -= HASHES[1];
  }

  toString(): string {
    return Array.from(this.lanes, (lane) => lane.toString(16).padStart(8, '0')).join('');
  }
}

/**
 * Murmur3 (x86, 32 bit) over the kind's number and then each value of the row as one 64-bit little-endian integer;
 * null is −1. Computes both lanes in one pass and writes them to `HASHES`: a start hashes up to ten million rows.
 */
function hashRow(kind: EntityKind, row: Row): void {
  if (BUFFER.length < row.length) BUFFER = new Float64Array(row.length * 2);
  for (let i = 0; i < row.length; i++) BUFFER[i] = row[i] ?? FLAT_NULL;
  hashValues(kind, BUFFER, 0, row.length);
}

function hashValues(kind: EntityKind, values: Float64Array, start: number, end: number): void {
  const first = scramble(KIND_NUMBERS[kind]);
  let hash0 = mix(LANE_SEEDS[0], first);
  let hash1 = mix(LANE_SEEDS[1], first);
  for (let i = start; i < end; i++) {
    const value = values[i];
    const low = scramble(value | 0);
    // Most values fit in one word. Division is slow.
    const isWord = value >= 0 && value < TWO_TO_32;
    const high = isWord ? 0 : scramble(Math.floor(value / TWO_TO_32) | 0);
    hash0 = mix(mix(hash0, low), high);
    hash1 = mix(mix(hash1, low), high);
  }
  const bytes = (end - start) * 8 + 4;
  HASHES[0] = avalanche(hash0 ^ bytes);
  HASHES[1] = avalanche(hash1 ^ bytes);
}

function scramble(word: number): number {
  const k = Math.imul(word, 0xcc9e2d51);
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
}

function mix(hash: number, scrambled: number): number {
  const h = hash ^ scrambled;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function avalanche(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
