import type { CopyText } from '../../platform/database/copy-in.js';
import { ROWS_PER_YIELD, Yielder } from '../../platform/yielder.js';

const CHUNK_CHARACTERS = 65_536;

/** The lines of as many rows, in large pieces. It yields to the event loop. @param text of one row, maybe empty. */
export async function* copyLines(count: number, text: (row: number) => string): CopyText {
  const yielder = new Yielder();
  let chunk = '';
  for (let row = 0; row < count; row++) {
    if (row % ROWS_PER_YIELD === 0) await yielder.yieldIfDue();
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
