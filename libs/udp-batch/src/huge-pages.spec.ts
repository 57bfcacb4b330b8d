import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useHugePages } from './huge-pages.js';
import { loadSystemCalls } from './system-calls.js';

const BYTES = 32 * 2 ** 20;

/** Flags of the mapping that has an address, as in /proc/self/smaps. */
function flagsAt(address: number): readonly string[] {
  let isThere = false;
  for (const line of readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const bounds = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line);
    if (bounds) {
      const [start, end] = bounds.slice(1).map((text) => Number.parseInt(text, 16));
      isThere = address >= start && address < end;
    } else if (isThere && line.startsWith('VmFlags:')) {
      return line.split(/\s+/).slice(1);
    }
  }
  return [];
}

it('marks the middle of shared memory, not what is too short for a page', () => {
  const [long, short] = [BYTES, 1_000].map((size) => new Uint8Array(new SharedArrayBuffer(size)));
  const { addressOf } = loadSystemCalls();
  expect(flagsAt(addressOf(long) + BYTES / 2)).not.toContain('hg');
  useHugePages(long);
  useHugePages(short);
  expect(flagsAt(addressOf(long) + BYTES / 2)).toContain('hg');
  expect(flagsAt(addressOf(short))).not.toContain('hg');
});
