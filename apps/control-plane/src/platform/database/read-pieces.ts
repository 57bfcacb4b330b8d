import type { Pool } from 'pg';

/** As much of a value as is read at once: followers read it at their own pace, and several at a time. */
const PIECE_BYTES = 256 * 1024;

/** Where large values are: a table's column of `bytea`, stored uncompressed, and the column that names the row. */
export interface BytesColumn {
  readonly table: string;
  readonly column: string;
  readonly key: string;
}

/**
 * The bytes of a value from `start` up to `end`, exclusive, in pieces, each read by a query of its own; the row must
 * not change.
 * @throws Error when there is no such row any more, or it is shorter.
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
    if (piece?.length !== length) throw new Error(`${table}.${column} went away while it was read`);
    yield piece;
  }
}
