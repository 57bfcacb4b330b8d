import type { Row } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { plainPart } from '../testing/plain-part.js';
import type { SnapshotPart } from './protocol.js';
import { readLines, readSnapshot, writeSnapshot } from './snapshot-stream.js';

const PARTS: readonly SnapshotPart[] = [
  {
    type: 'head',
    lineage: '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01',
    revision: 3,
    digest: '0123456789abcdef',
  },
  { type: 'rows', kind: 'blockPage', rows: [[1, 0]] },
  {
    type: 'rows',
    kind: 'domainRule',
    rows: [
      [1, 2, 1],
      [1, 3, 2],
    ],
  },
];

async function* from<T>(items: Iterable<T>): AsyncGenerator<T> {
  await Promise.resolve();
  yield* items;
}

async function text(): Promise<string> {
  return (await Array.fromAsync(writeSnapshot(from(PARTS)))).join('');
}

const read = (whole: string, chunkBytes = 7) => {
  const bytes = Buffer.from(whole);
  const chunks = [];
  for (let i = 0; i < bytes.length; i += chunkBytes) chunks.push(bytes.subarray(i, i + chunkBytes));
  return Array.fromAsync(readSnapshot(readLines(from(chunks))), plainPart);
};

describe('readSnapshot', () => {
  it('reads what writeSnapshot wrote, wherever the chunks are cut', async () => {
    for (const chunkBytes of [1, 7, 4096])
      expect(await read(await text(), chunkBytes)).toEqual(PARTS);
  });

  it('reads the rows of a part that is longer than a line may be', async () => {
    const ids = Array.from({ length: 7_000 }, (_, i) => 2_000_000_000 + i);
    const rows = Array.from({ length: 1_000 }, (_, id): Row => [id, ...ids]);
    const lines = writeSnapshot(from([PARTS[0], { type: 'rows', kind: 'profile', rows }]));
    const bytes = (async function* () {
      for await (const line of lines) yield Buffer.from(line);
    })();
    const counts: number[] = [];
    let next = 0;
    for await (const part of readSnapshot(readLines(bytes))) {
      if (part.type === 'head') continue;
      counts.push(part.rows.length);
      for (const row of part.rows) expect([row[0], row.length]).toEqual([next++, 7_001]);
    }
    // 77 kB each.
    expect([next, Math.max(...counts)]).toEqual([1_000, 13]);
  });

  it('reads lines that were written in another way, such as with spaces', async () => {
    const lines = (await text()).trimEnd().split('\n');
    const spaced = lines.map((line) => line.replaceAll(',', ' , '));
    expect(await read(`${spaced.join('\n')}\n`)).toEqual(PARTS);
  });

  it('refuses text that is not UTF-8', async () => {
    const lines = (await text()).trimEnd().split('\n');
    const bytes = Buffer.from(`${lines[0]}\n`);
    bytes[bytes.indexOf('type')] = 0xff;
    await expect(Array.fromAsync(readSnapshot(readLines(from([bytes]))))).rejects.toThrow(
      'not UTF-8',
    );
  });

  it('refuses a snapshot that was cut off anywhere', async () => {
    const whole = await text();
    for (let length = 0; length < whole.length; length++) {
      await expect(read(whole.slice(0, length), 4096)).rejects.toThrow();
    }
  });

  it.each<[string, (lines: string[]) => string[]]>([
    ['a row too few', (lines) => lines.map((line) => line.replace(',[1,3,2]', ''))],
    ['a part lost', (lines) => lines.toSpliced(1, 1)],
    ['a part doubled', (lines) => lines.toSpliced(1, 0, lines[1])],
    ['no head', (lines) => lines.slice(1)],
    ['two heads', (lines) => [lines[0], ...lines]],
    ['lines behind the trailer', (lines) => [...lines, lines[1]]],
    [
      'another digest in the trailer',
      (lines) => lines.map((line, i) => (i === 0 ? line.replace('0123', '9999') : line)),
    ],
    ['an unknown kind', (lines) => lines.map((line) => line.replace('blockPage', 'other'))],
    ['a line that is not JSON', (lines) => lines.map((line) => line.replace('{', '<'))],
  ])('refuses %s', async (_name, spoil) => {
    const lines = (await text()).trimEnd().split('\n');
    await expect(read(`${spoil(lines).join('\n')}\n`)).rejects.toThrow();
  });
});
