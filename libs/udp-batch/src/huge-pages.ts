import { MADV_HUGEPAGE } from './linux.js';
import { loadSystemCalls } from './system-calls.js';

/** The start that madvise wants is that of a page; arm64 has pages of up to 64 KiB. */
const PAGE_BYTES = 65_536;

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
