/** Most rows that one statement of a long change reads or writes. Few milliseconds are needed for their parameters. */
const ROWS = 2048;

/** Cuts the rows of a long change for several statements of its transaction, so that other requests come in between. */
export function* statementPieces<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < rows.length; i += ROWS) yield rows.slice(i, i + ROWS);
}
