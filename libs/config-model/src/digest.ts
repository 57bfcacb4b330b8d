import type { EntityKind } from './entities.js';
import { ENTITY_KINDS } from './entities.js';
import type { Row } from './rows.js';

/** Digest of a configuration without entities. */
export const EMPTY_DIGEST = '0000000000000000';

const LANE_SEEDS = [0x57656972, 0x9e3779b9] as const;

/**
 * Digest of a whole configuration: two 32-bit lanes, each the sum (mod 2³²) of the hashes of all entities under the
 * lane's seed. A sum does not depend on order and is kept up to date entity by entity, so both ends of the change feed can hold
 * it at no cost and compare it at every revision. It finds accidents (a lost, doubled or misapplied change), not attackers:
 * whoever can write to the feed needs no collision.
 */
export class Digest {
  private lane0 = 0;
  private lane1 = 0;

  /** @param hex 16 hex digits, as `toString` gives them. */
  static parse(hex: string): Digest {
    if (!/^[0-9a-f]{16}$/.test(hex)) throw new RangeError('a digest is 16 hex digits');
    const digest = new Digest();
    digest.lane0 = Number.parseInt(hex.slice(0, 8), 16);
    digest.lane1 = Number.parseInt(hex.slice(8), 16);
    return digest;
  }

  /** Counts an entity in. `row` is the entity's own row (`toRow`). */
  add(kind: EntityKind, row: Row): void {
    this.lane0 = (this.lane0 + hashRow(LANE_SEEDS[0], kind, row)) >>> 0;
    this.lane1 = (this.lane1 + hashRow(LANE_SEEDS[1], kind, row)) >>> 0;
  }

  /** Counts an entity out that was counted in before. */
  remove(kind: EntityKind, row: Row): void {
    this.lane0 = (this.lane0 - hashRow(LANE_SEEDS[0], kind, row)) >>> 0;
    this.lane1 = (this.lane1 - hashRow(LANE_SEEDS[1], kind, row)) >>> 0;
  }

  toString(): string {
    return this.lane0.toString(16).padStart(8, '0') + this.lane1.toString(16).padStart(8, '0');
  }
}

/** Murmur3 (x86, 32 bit) over the kind's number and then each value of the row as one 64-bit little-endian integer; null is −1. */
function hashRow(seed: number, kind: EntityKind, row: Row): number {
  let hash = mix(seed, ENTITY_KINDS.indexOf(kind));
  for (let i = 0; i < row.length; i++) {
    const value = row[i] ?? -1;
    hash = mix(hash, value | 0);
    hash = mix(hash, Math.floor(value / 4294967296) | 0);
  }
  return avalanche(hash ^ (row.length * 8 + 4));
}

function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  let h = hash ^ Math.imul(k, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  return (Math.imul(h, 5) + 0xe6546b64) | 0;
}

function avalanche(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
