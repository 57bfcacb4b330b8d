// The two ways in which a policy has its memory, for benchmarks.
import { ChunkMemory } from '@weir/policy';
import { loadSystemCalls } from '@weir/udp-batch';
import { readFileSync } from 'node:fs';
import { findHugePages } from '../../../apps/resolver/dist/memory/huge-pages.js';

/** @returns those of the resolver; null: not wanted. */
export function hugePagesFor(isWanted) {
  const found = isWanted ? findHugePages(loadSystemCalls()) : null;
  if (isWanted && found === null) throw new Error('this machine has no huge pages');
  return found;
}

export const memoryOf = (isHuge) => new ChunkMemory(hugePagesFor(isHuge));

/** MiB of this process in huge pages. */
export function hugeMb() {
  const text = readFileSync('/proc/self/smaps_rollup', 'utf8');
  return Number(/^AnonHugePages: +(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
}
