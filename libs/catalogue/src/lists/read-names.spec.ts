import { parseHashKey } from '@weir/dns-name';
import { describe, expect, it } from 'vitest';
import type { ListFormat } from '../definition/definition.js';
import { NameList } from '../names/name-list.js';
import { type ReadList, readNames } from './read-names.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

/** Reads a text that comes in chunks of `chunkBytes`. */
function read(text: string | Uint8Array, format: ListFormat, chunkBytes = 7): Promise<ReadList> {
  const bytes = Buffer.from(text as string);
  // eslint-disable-next-line @typescript-eslint/require-await
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      yield bytes.subarray(at, at + chunkBytes);
    }
  }
  return readNames(chunks(), format, KEY);
}

describe('readNames of format domains', () => {
  it('lists one domain a line and reports what is none', async () => {
    const list =
      '# gambling\n\npoker.example # cards\nno domain\n  CASINO.example\r\n*.x\nbücher.example.';
    const { names, report } = await read(list, 'domains');
    const listed = ['poker.example', 'casino.example', 'xn--bcher-kva.example'];
    expect(names.words).toEqual(NameList.of(listed, KEY).words);
    expect(report).toMatchObject({ lines: 7, domains: 3, skipped: 0, invalidLines: 2 });
    expect(report.examples).toEqual([
      { line: 4, problem: expect.stringContaining('letters, digits') },
      { line: 6, problem: expect.stringContaining('letters, digits') },
    ]);
  });

  it('reports the first ten invalid lines only', async () => {
    const { report } = await read(`a.example\n${'!\n'.repeat(25)}`, 'domains');
    expect(report).toMatchObject({ domains: 1, invalidLines: 25 });
    expect(report.examples.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });
});
