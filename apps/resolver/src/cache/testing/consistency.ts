import { questionTag } from '../../query/question.js';
import { AnswerStore } from '../answer-store.js';
import type { CacheMemory } from '../cache-memory.js';
import { EntryTable, Head } from '../entry-table.js';
import type { RingBuffer } from '../ring-buffer.js';

/** Checks a cache that nobody writes meanwhile. @returns what is wrong with its rings and its index */
export function problemsOf(memory: CacheMemory): string[] {
  const table = new EntryTable(memory);
  const store = new AnswerStore(memory, table, () => false);
  const problems: string[] = [];
  const live = new Set<number>();
  for (const ring of [store.small, store.main]) readRing(ring, table.words, live, problems);
  const { index } = store;
  let count = 0;
  for (let slot = 0; slot < index.slotCount; slot++) {
    const at = index.offsetAt(slot);
    if (at < 0) continue;
    count++;
    if (!live.has(at)) problems.push(`slot ${slot} has ${at}, where no entry is`);
    else if (!isFound(store, tagOf(table.words, at), at))
      problems.push(`the entry at ${at} is not found by its tag`);
  }
  const counts = [count, live.size, index.count];
  if (new Set(counts).size > 1)
    problems.push(`slots, entries in the rings, count: ${counts.join()}`);
  return problems;
}

const tagOf = (words: Int32Array, at: number): number =>
  questionTag(words[at + Head.low], words[at + Head.key]);

function readRing(
  ring: RingBuffer,
  words: Int32Array,
  live: Set<number>,
  problems: string[],
): void {
  let left = ring.used;
  let at = ring.oldest();
  while (left > 0) {
    const size = Math.abs(words[at]);
    if (size === 0 || size > left || !ring.contains(at + size - 1)) {
      problems.push(`a record of ${words[at]} words at ${at}, of ${left} in use`);
      return;
    }
    if (words[at] > 0) live.add(at);
    left -= size;
    at = ring.contains(at + size) ? at + size : ring.start;
  }
}

/** Whether exactly one slot with its tag has that entry. */
function isFound({ index }: AnswerStore, tag: number, at: number): boolean {
  let found = 0;
  for (let slot = index.first(tag); slot >= 0; slot = index.next(slot, tag)) {
    if (index.offsetAt(slot) === at) found++;
  }
  return found === 1;
}
