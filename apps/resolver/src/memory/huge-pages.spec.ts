import { needsThat } from '@weir/ops/testing';
import { HUGE_PAGE_BYTES } from '@weir/policy';
import { loadSystemCalls } from '@weir/udp-batch';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findHugePages, wantedHugePages } from './huge-pages.js';

const calls = loadSystemCalls();
const offered = findHugePages(calls);
const BYTES = 64 * 2 ** 20;

/** What the kernel says of the mapping that has the address. */
function mappingOf(address: number): string {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const found = mappings.find((text) => {
    const [from, to] = text.split(' ', 1)[0].split('-');
    return Number(`0x${from}`) <= address && address < Number(`0x${to}`);
  });
  return found ?? '';
}

function residentBytes(address: number): number {
  return Number(/^Rss: +(\d+)/m.exec(mappingOf(address))?.[1]) * 1024;
}

describe('huge pages', needsThat(offered !== null, 'huge pages'), () => {
  it('are asked for, for whole pages only', () => {
    const buffer = new SharedArrayBuffer(BYTES);
    const { start, end } = offered!.advise(buffer)!;
    const address = calls!.addressOf(new Uint8Array(buffer));
    expect((address + start) % HUGE_PAGE_BYTES).toBe(0);
    expect((address + end) % HUGE_PAGE_BYTES).toBe(0);
    expect(start).toBeLessThan(HUGE_PAGE_BYTES);
    expect(end - start).toBeGreaterThanOrEqual(BYTES - 2 * HUGE_PAGE_BYTES);
    expect(mappingOf(address + start)).toMatch(/^VmFlags:.* hg\b/m);
    expect(residentBytes(address + start)).toBe(0);
  });

  it('go back to the system, and are 0 then', () => {
    const buffer = new SharedArrayBuffer(BYTES);
    const { start } = offered!.advise(buffer)!;
    const pages = { start: start + HUGE_PAGE_BYTES, end: start + 3 * HUGE_PAGE_BYTES };
    const bytes = new Uint8Array(buffer, start, 4 * HUGE_PAGE_BYTES).fill(7);
    const address = calls!.addressOf(bytes);
    expect(residentBytes(address)).toBe(4 * HUGE_PAGE_BYTES);
    offered!.release(buffer, pages);
    expect(residentBytes(address)).toBe(2 * HUGE_PAGE_BYTES);
    const released = bytes.subarray(HUGE_PAGE_BYTES, 3 * HUGE_PAGE_BYTES);
    expect(released.every((byte) => byte === 0)).toBe(true);
    expect([bytes[HUGE_PAGE_BYTES - 1], bytes[3 * HUGE_PAGE_BYTES]]).toEqual([7, 7]);
  });

  it('are not asked for where none fits', () => {
    expect(offered!.advise(new SharedArrayBuffer(2 ** 20))).toBeNull();
  });
});

describe('wantedHugePages', () => {
  it('are those of the kernel, or none', () => {
    expect(wantedHugePages({ HUGE_PAGES: 'off' })).toBeNull();
    expect(wantedHugePages({ HUGE_PAGES: 'auto' }) === null).toBe(offered === null);
  });
});

describe('findHugePages', () => {
  const kernel = (enabled: string, pageBytes: number): string => {
    const folder = mkdtempSync(join(tmpdir(), 'huge-pages-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, 'enabled'), `${enabled}\n`);
    writeFileSync(join(folder, 'hpage_pmd_size'), `${pageBytes}\n`);
    return folder;
  };

  it.each(['[always] madvise never', 'always [madvise] never'])(
    'finds them with %s',
    needsThat(calls !== null, 'system calls (libs/udp-batch)'),
    (enabled) => {
      expect(findHugePages(calls, kernel(enabled, HUGE_PAGE_BYTES))).not.toBeNull();
    },
  );

  it('finds none where the kernel has none or larger ones, or cannot be asked', () => {
    expect(findHugePages(calls, kernel('always madvise [never]', HUGE_PAGE_BYTES))).toBeNull();
    expect(findHugePages(calls, kernel('[always] madvise never', 2 ** 29))).toBeNull();
    expect(findHugePages(calls, '/nonexistent')).toBeNull();
    expect(findHugePages(null)).toBeNull();
  });
});
