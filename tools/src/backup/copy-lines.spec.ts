import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CopyLines, END_OF_ROWS } from './copy-lines.js';

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  await Promise.resolve();
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = (text: string, size = 7) => new CopyLines(pieces(Buffer.from(text), size));
const rowsOf = async (lines: CopyLines) =>
  Buffer.concat(await Array.fromAsync(lines.rows())).toString();

describe('CopyLines', () => {
  it('returns the same lines and rows for chunks of any size', async () => {
    // In COPY's text format a row has no newline, and a backslash is followed by something.
    const row = fc.stringMatching(/^([a-z\t.]|\\\\|\\N|\\t)*$/);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row), { minLength: 1 }),
        fc.integer({ min: 1, max: 20 }),
        async (tables, size) => {
          const texts = tables.map((rows) => rows.map((one) => `${one}\n`).join(''));
          const lines = read(
            texts.map((rows, i) => `table ${i}\n${rows}${END_OF_ROWS}`).join(''),
            size,
          );
          for (const [i, rows] of texts.entries()) {
            expect(await lines.line()).toBe(`table ${i}`);
            expect(await rowsOf(lines)).toBe(rows);
          }
          expect(await lines.line()).toBeNull();
        },
      ),
    );
  });

  it('reports that the bytes end among the rows or in the middle of a line', async () => {
    for (const text of ['', 'a\n', 'a\n\\.', '\\.']) {
      await expect(rowsOf(read(text))).rejects.toThrow('breaks off among the rows');
    }
    await expect(read('table').line()).rejects.toThrow('breaks off in the middle of a line');
  });

  it('refuses a line that is too long', async () => {
    const endless = read('x'.repeat(3 * 1024 * 1024), 65_536);
    await expect(endless.line()).rejects.toThrow('it is no backup of Weir');
  });
});
