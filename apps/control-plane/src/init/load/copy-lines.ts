const CHUNK_CHARACTERS = 65_536;

/** The lines of as many rows, in large pieces. @param text of one row, maybe empty. */
export function* copyLines(count: number, text: (row: number) => string): Generator<string> {
  let chunk = '';
  for (let row = 0; row < count; row++) {
    chunk += text(row);
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** One row in the text format of COPY. The values contain nothing that needs an escape. */
export function copyLine(...values: readonly (string | number | boolean)[]): string {
  return `${values.join('\t')}\n`;
}
