import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './unpack.js';

const MAX_LINE_BYTES = 8;

/** The lines of chunks; null for one that is too long. */
function cut(chunks: readonly string[]): (string | null)[] {
  const lines: (string | null)[] = [];
  const splitter = new LineSplitter(MAX_LINE_BYTES, {
    line: (bytes, start, end) => lines.push(Buffer.from(bytes.subarray(start, end)).toString()),
    tooLongLine: () => lines.push(null),
  });
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return lines;
}

describe('LineSplitter', () => {
  it('returns the lines of the whole text for any sizes of chunks', () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', 'b', '\r', '\n'), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
        const text = chunks.join('');
        const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
        const expected = lines.map((line) => (line.length > MAX_LINE_BYTES ? null : line));
        expect(cut(chunks)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
