import { M_MMAP_THRESHOLD, MADV_HUGEPAGE } from './linux.js';
import { loadSystemCalls } from './system-calls.js';

/** The start that madvise wants is that of a page; arm64 has pages of up to 64 KiB. */
const PAGE_BYTES = 65_536;
/** Where glibc begins. */
const MMAP_THRESHOLD_BYTES = 128 * 1024;

/**
 * Asks the kernel for huge pages (2 MiB on x64) where memory that was not yet written is written first. Random reads of
 * much memory then take less time, because the processor finds the page of an address in its TLB. Without effect where
 * the kernel has none. In /sys/kernel/mm/transparent_hugepage/enabled the default of Linux is `madvise` or `always`.
 */
export function useHugePages(bytes: Uint8Array): void {
  const calls = loadSystemCalls();
  const at = calls.addressOf(bytes);
  const start = Math.ceil(at / PAGE_BYTES) * PAGE_BYTES;
  const end = at + bytes.length;
  if (start < end) calls.madvise(start, end - start, MADV_HUGEPAGE);
}

/**
 * From now on, malloc returns blocks of 128 KiB and more to the kernel when they are freed. By itself glibc does so
 * only until the first is freed: then it keeps blocks of up to 32 MiB, and zeroes them for their next use, so that they
 * count as memory of the process before anything is in them.
 */
export function returnFreedBlocks(): void {
  loadSystemCalls().mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
}
