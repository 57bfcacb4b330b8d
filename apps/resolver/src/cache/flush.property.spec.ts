import { wireName } from '@weir/dns-wire/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameRange } from '../query/name-range.js';
import type { Question } from '../query/question.js';
import { questionOf, responseTo, soa } from '../query/testing/questions.js';
import { a } from '../query/testing/records.js';
import type { AnswerCache } from './answer-cache.js';
import { CacheResult } from './cache-reader.js';
import { newCache } from './testing/new-cache.js';

const ZONES = 40;
const NAMES_PER_ZONE = 20;

/** Every zone: many names, two types each, so that the index of a small cache has long runs of slots. */
const questions = Array.from({ length: ZONES }, (_, zone) => zone).flatMap((zone) =>
  Array.from({ length: NAMES_PER_ZONE }, (_, i) => `n${i}.zone${zone}.example`).flatMap((name) =>
    [1, 28].map((qtype) => ({ zone, name, question: questionOf(name, qtype) })),
  ),
);

const KINDS = ['answer', 'nxdomain', 'servfail'] as const;

function store(cache: AnswerCache, question: Question, kind: (typeof KINDS)[number]): void {
  const messages = {
    answer: { answers: [{ ...a('192.0.2.1', 100), type: question.query.qtype }] },
    nxdomain: { flags: 0x8183, authorities: [soa(50, 50)] },
    servfail: { flags: 0x8182 },
  };
  cache.put(question, responseTo(question, messages[kind]), 0, cache.generation);
}

const isKnown = (cache: AnswerCache, question: Question) =>
  cache.find(question, 0) !== CacheResult.miss;

const step = fc.record({
  at: fc.nat(questions.length - 1),
  kind: fc.constantFrom(...KINDS),
  isPut: fc.boolean(),
});

describe('a flush of the names of one zone', () => {
  it('leaves nothing of that zone and everything of the others, whatever happens meanwhile', () => {
    const range = fc.record({
      zone: fc.nat(ZONES - 1),
      before: fc.array(step, { minLength: 300, maxLength: 1500 }),
      during: fc.array(step, { maxLength: 200 }),
      stepsPerPiece: fc.integer({ min: 1, max: 100 }),
      // A small cache evicts; the index of the large one has several pieces.
      sizeBytes: fc.constantFrom(64 * 1024, 1 << 20),
    });
    let flushed = 0;
    fc.assert(
      fc.property(range, ({ zone, before, during, stepsPerPiece, sizeBytes }) => {
        const cache = newCache(sizeBytes);
        for (const { at, kind } of before) store(cache, questions[at].question, kind);
        const known = questions.filter(({ question }) => isKnown(cache, question));
        const wasEvicted = cache.evictions;
        const name = wireName(`ZONE${zone}.example`);
        const names = new NameRange({ name, isBelowIncluded: true, hasNxDomainCut: false });
        let step = 0;
        for (const removed of cache.flush(names)) {
          flushed += removed;
          for (const { at, kind, isPut } of during.slice(step, (step += stepsPerPiece))) {
            const one = questions[at];
            if (!isPut) cache.find(one.question, 0);
            else if (one.zone !== zone) store(cache, one.question, kind);
          }
        }
        for (const one of questions.filter((asked) => asked.zone === zone)) {
          expect(isKnown(cache, one.question)).toBe(false);
        }
        if (cache.evictions > wasEvicted) return;
        // An answer for one type ends the NXDOMAIN for all types of its name.
        const changed = new Set(during.map(({ at }) => questions[at].name));
        for (const one of known) {
          if (one.zone === zone || changed.has(one.name)) continue;
          expect(isKnown(cache, one.question)).toBe(true);
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
    expect(flushed).toBeGreaterThan(500);
  });
});

describe('a flush of one name', () => {
  it('removes an expired answer that could still be served', () => {
    const cache = newCache(64 * 1024);
    const [{ question, name }] = questions;
    store(cache, question, 'answer');
    expect(cache.find(question, 200)).toBe(CacheResult.stale);
    const names = new NameRange({
      name: wireName(name),
      isBelowIncluded: false,
      hasNxDomainCut: false,
    });
    expect([...cache.flush(names)].reduce((sum, removed) => sum + removed)).toBe(1);
    expect(cache.find(question, 200)).toBe(CacheResult.miss);
    expect(cache.findStale(question, 200)).toBe(false);
  });
});

describe('a flush of everything', () => {
  it('empties the cache, which then fills again', () => {
    const cache = newCache(64 * 1024);
    const fill = () => {
      for (const { question } of questions) store(cache, question, 'answer');
    };
    fill();
    const { entries, evictions } = cache;
    const emptyBytes = newCache(64 * 1024).usedBytes;
    expect([...cache.flushAll()].reduce((sum, removed) => sum + removed)).toBe(entries);
    expect([cache.entries, cache.usedBytes]).toEqual([0, emptyBytes]);
    for (const { question } of questions) expect(isKnown(cache, question)).toBe(false);
    fill();
    expect(cache.entries).toBeGreaterThan(entries * 0.9);
    expect(cache.evictions).toBeGreaterThan(evictions);
  });
});
