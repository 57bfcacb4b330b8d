import { AnswerCache, type AnswerCacheOptions } from '../answer-cache.js';
import { createCacheMemory } from '../cache-memory.js';

/** A cache that only this thread uses. */
export function newCache(
  sizeBytes: number,
  options: Omit<AnswerCacheOptions, 'memory' | 'thread'> = {},
): AnswerCache {
  return new AnswerCache({ ...options, memory: createCacheMemory(sizeBytes, 1), thread: 0 });
}
