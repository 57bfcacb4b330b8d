import koffi from 'koffi';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { returnFreedBlocks, useHugePages } from './memory.js';
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

it('has a large block mapped again after one of its size was freed', () => {
  const libc = koffi.load(null);
  const malloc = libc.func('uintptr_t malloc(size_t)');
  const free = libc.func('void free(uintptr_t)');
  // glibc keeps the size of a block in front of it. Its second bit says that the block is a mapping of its own.
  const isMapped = (bytes: number): boolean => {
    const block = Number(malloc(bytes));
    const size = koffi.decode(BigInt(block - 8), 'uint64_t') as number;
    free(block);
    return (size & 2) !== 0;
  };
  const [small, large] = [2 ** 20, 24 * 2 ** 20];
  isMapped(small);
  expect(isMapped(small)).toBe(false);
  returnFreedBlocks();
  expect([isMapped(large), isMapped(large)]).toEqual([true, true]);
});
