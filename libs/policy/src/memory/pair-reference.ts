/*
 * A reference to a table is an address and a shape. Shape 0: there is no table. Above 0: a table in one block of that
 * capacity. Below 0: a directory of 1 << ~shape leaves.
 */

/** Words of a reference to a table. The owner of a table keeps them, 0 at first; only `PairTables` changes them. */
export const REFERENCE_WORDS = 2;

/** Buckets of a leaf; also the most buckets of a table in one block. */
export const LEAF = 1024;

/** Buckets of each block of a table of that shape. */
export function capacityOf(shape: number): number {
  return shape > 0 ? shape : LEAF;
}

/** A mask of that many lowest bits. */
export function lowest(bits: number): number {
  return (1 << bits) - 1;
}
