import type { Pool } from 'pg';

/** Bytes read by one query. Followers read slowly and several at a time, so whole values would take too much memory. */
const PIECE_BYTES = 256 * 1024;

/** Where a large value is stored: an uncompressed `bytea` column, and the column that identifies the row. */
export interface BytesColumn {
  readonly table: string;
  readonly column: string;
  readonly key: string;
}

/**
 * The bytes of a value from `start` up to `end`, exclusive, in pieces. Each piece is read by its own query, so the row
 * must not change.
 * @throws Error when the row does not exist any more or is shorter.
 */
export async function* readPieces(
  pool: Pool,
  { table, column, key }: BytesColumn,
  keyValue: string,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, end - at);
    const { rows } = await pool.query<{ piece: Buffer }>(
      `SELECT substring(${column} FROM $2 FOR $3) AS piece FROM ${table} WHERE ${key} = $1`,
      [keyValue, at + 1, length],
    );
    const piece = rows[0]?.piece;
    if (piece?.length !== length)
      throw new Error(`${table}.${column} was deleted while it was read`);
    yield piece;
  }
}
