import { HUGE_PAGE_BYTES, type HugePages } from '@weir/policy';
import { loadSystemCalls, type SystemCalls } from '@weir/udp-batch';
import { readFileSync } from 'node:fs';
import type { MemoryConfiguration } from '../configuration/memory-variables.js';

/** <asm-generic/mman-common.h> */
const MADV_DONTNEED = 4;
const MADV_HUGEPAGE = 14;

const KERNEL_FOLDER = '/sys/kernel/mm/transparent_hugepage';

/** @returns null: they are not wanted, or there are none. */
export function wantedHugePages({ HUGE_PAGES: wanted }: MemoryConfiguration): HugePages | null {
  return wanted === 'off' ? null : findHugePages(loadSystemCalls());
}

/** @returns null where the kernel has no huge pages of 2 MiB for a process that asks for them. */
export function findHugePages(calls: SystemCalls | null, folder = KERNEL_FOLDER): HugePages | null {
  return calls !== null && isOffered(folder) ? hugePagesOf(calls) : null;
}

function isOffered(folder: string): boolean {
  try {
    const enabled = readFileSync(`${folder}/enabled`, 'utf8');
    const bytes = Number(readFileSync(`${folder}/hpage_pmd_size`, 'utf8'));
    return /\[(always|madvise)\]/.test(enabled) && bytes === HUGE_PAGE_BYTES;
  } catch {
    return false;
  }
}

function hugePagesOf(calls: SystemCalls): HugePages {
  const addressOf = (buffer: SharedArrayBuffer): number => calls.addressOf(new Uint8Array(buffer));
  return {
    advise: (buffer) => {
      const address = addressOf(buffer);
      const start = Math.ceil(address / HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES;
      const end = Math.floor((address + buffer.byteLength) / HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES;
      if (end <= start || calls.madvise(start, end - start, MADV_HUGEPAGE) !== 0) return null;
      return { start: start - address, end: end - address };
    },
    release: (buffer, { start, end }) => {
      calls.madvise(addressOf(buffer) + start, end - start, MADV_DONTNEED);
    },
  };
}
