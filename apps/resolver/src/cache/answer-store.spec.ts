import { describe, expect, it } from 'vitest';
import type { Question } from '../query/question.js';
import { questionOf, responseTo } from '../query/testing/questions.js';
import { a } from '../query/testing/records.js';
import type { AnswerCache } from './answer-cache.js';
import { AnswerStore } from './answer-store.js';
import { createCacheMemory } from './cache-memory.js';
import { CacheResult } from './cache-reader.js';
import { EntryTable } from './entry-table.js';
import { newCache } from './testing/new-cache.js';

const SIZE = 256 * 1024;

function keep(cache: AnswerCache, question: Question, ttl = 3600): void {
  cache.put(
    question,
    responseTo(question, { answers: [a('192.0.2.1', ttl)] }),
    0,
    cache.generation,
  );
}

/** Looks a name up and stores it when it is missing. @returns whether it was a hit */
function ask(cache: AnswerCache, question: Question): boolean {
  const isHit = cache.find(question, 0) !== CacheResult.miss;
  if (!isHit) keep(cache, question);
  return isHit;
}

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => questionOf(`${prefix}${i}.example.com`));

describe('a full cache', () => {
  it('keeps popular names during a scan of names that are asked once', () => {
    const cache = newCache(SIZE);
    const popular = named('popular', 200);
    for (let round = 0; round < 4; round++) for (const question of popular) ask(cache, question);
    const scan = named('scan', 20_000);
    let hits = 0;
    scan.forEach((question, i) => {
      ask(cache, question);
      if (i % 20 === 0) hits += ask(cache, popular[(i / 20) % popular.length]) ? 1 : 0;
    });
    expect(cache.evictions).toBeGreaterThan(10_000);
    // 1000 other names were asked meanwhile. An LRU cache of this size would evict each of them before its next query.
    expect(hits).toBeGreaterThan(950);
  });

  it('puts an entry that returns soon after its eviction into the main ring', () => {
    const cache = newCache(SIZE);
    const again = named('again', 20);
    const askAll = (questions: Question[]) =>
      questions.filter((question) => ask(cache, question)).length;
    askAll(named('full', 3_000));
    askAll(again);
    expect(askAll(named('scan', 400))).toBe(0);
    // The ghost of another name may have the same tag.
    expect(askAll(again)).toBeLessThan(3);
    expect(askAll(named('more', 800))).toBe(0);
    // A newer ghost may have overwritten some.
    expect(askAll(again)).toBeGreaterThan(14);
  });

  it('adapts when other names become popular', () => {
    const cache = newCache(SIZE);
    for (const prefix of ['old', 'new']) {
      const questions = named(prefix, 1_000);
      for (let round = 0; round < 12; round++)
        for (const question of questions) ask(cache, question);
    }
    const hits = named('new', 1_000).filter((question) => ask(cache, question)).length;
    expect(hits).toBeGreaterThan(900);
  });

  it('stays within its memory for all entry sizes', () => {
    const cache = newCache(SIZE);
    for (let i = 0; i < 5_000; i++) {
      const question = questionOf(`n${i}.example.com`);
      const answers = Array.from({ length: (i * 7919) % 60 }, () => a('192.0.2.1'));
      cache.put(question, responseTo(question, { answers }), 0, cache.generation);
    }
    expect(cache.usedBytes).toBeLessThanOrEqual(SIZE);
    expect(cache.usedBytes).toBeGreaterThan(SIZE * 0.9);
    expect(cache.entries).toBeGreaterThan(200);
  });

  it('makes room for a very large entry in short pieces of work', () => {
    const memory = createCacheMemory(16 << 20, 1);
    const table = new EntryTable(memory);
    const store = new AnswerStore(memory, table, () => false);
    const small = 40;
    const count = Math.floor((16 << 20) / 4 / small);
    for (let n = 0; n < count; n++) {
      const at = store.allocate(n, n, 4, -1, small);
      // Half of them are hit twice, so they move to the main ring.
      if (n % 2 === 1) continue;
      table.countHit(at);
      table.countHit(at);
    }
    const large = 17_000;
    let pieces = 1;
    let evictions = 0;
    for (let n = count; n < count + 40; n++) {
      const { entries } = store;
      while (store.allocate(n, n, 4, -1, large) === AnswerStore.unfinished) {
        pieces++;
        evictions = Math.max(evictions, entries - store.entries);
      }
    }
    expect(pieces).toBeGreaterThan(40);
    // A large entry evicts more in all than one piece may.
    expect(evictions).toBeGreaterThan(128);
    expect(store.evictions).toBeGreaterThan(evictions);
  });

  it('counts no eviction of an entry without use when its index is full', () => {
    const memory = createCacheMemory(SIZE, 1);
    let isUseless = false;
    const store = new AnswerStore(memory, new EntryTable(memory), () => isUseless);
    for (let n = 0; !store.index.isFull; n++) store.allocate(n, n, 4, -1, 15);
    const { evictions } = store;
    isUseless = true;
    store.allocate(-1, -1, 4, -1, 15);
    expect(store.evictions).toBe(evictions);
  });

  it('has enough index slots when all entries have the minimum size', () => {
    const cache = newCache(SIZE);
    for (let i = 0; i < 9_000; i++) {
      const question = questionOf(`${i}`);
      cache.put(question, responseTo(question, { flags: 0x8182 }), 0, cache.generation);
    }
    // Three quarters of 4096 slots.
    expect(cache.entries).toBeLessThanOrEqual(3072);
    expect(cache.find(questionOf('8999'), 0)).toBe(CacheResult.fresh);
  });
});

describe('the largest cache of the configuration (CACHE_SIZE_MB=4096)', () => {
  // Its pages are untouched, so they take no memory until they are written.
  it.each([2048, 4096])('can be made and used with %i MiB', (mebibytes) => {
    const cache = newCache(mebibytes * 2 ** 20);
    expect(cache.usedBytes).toBeGreaterThan(0);
    expect(cache.usedBytes).toBeLessThan(mebibytes * 2 ** 18);
    const question = questionOf('www.example.com');
    expect(ask(cache, question)).toBe(false);
    expect(ask(cache, question)).toBe(true);
  });
});

describe('a flood of queries for one name', () => {
  it('is spread over the index', () => {
    // All types of one name, with DO and CD: their tags come from the same hash, which clients do not know.
    const cache = newCache(16 << 20);
    for (let qtype = 1000; qtype < 9000; qtype++) keep(cache, questionOf('www.example.com', qtype));
    const startMs = performance.now();
    for (let qtype = 1000; qtype < 9000; qtype++) {
      expect(cache.find(questionOf('www.example.com', qtype), 0)).toBe(CacheResult.miss);
    }
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});
