import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { questionOf, responseTo } from '../query/testing/questions.js';
import type { Question } from '../query/question.js';
import { AnswerCache, CacheResult } from './answer-cache.js';
import { KeyIndex } from './key-index.js';

const SIZE = 256 * 1024;

function keep(cache: AnswerCache, question: Question, ttl = 3600): void {
  cache.put(question, responseTo(question, { answers: [a('192.0.2.1', ttl)] }), 0);
}

/** Asks as a client does: what is not there is fetched. @returns whether it was there. */
function ask(cache: AnswerCache, question: Question): boolean {
  const isHit = cache.find(question, 0) !== CacheResult.miss;
  if (!isHit) keep(cache, question);
  return isHit;
}

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => questionOf(`${prefix}${i}.example.com`));

describe('a full cache', () => {
  it('keeps what is asked often through a scan of names that are asked once', () => {
    const cache = new AnswerCache(SIZE);
    const popular = named('popular', 200);
    for (let round = 0; round < 4; round++) for (const question of popular) ask(cache, question);
    const scan = named('scan', 20_000);
    let hits = 0;
    scan.forEach((question, i) => {
      ask(cache, question);
      if (i % 20 === 0) hits += ask(cache, popular[(i / 20) % popular.length]) ? 1 : 0;
    });
    expect(cache.evictions).toBeGreaterThan(10_000);
    // 1000 were asked meanwhile. A least-recently-used cache of this size forgets each of them before it is asked again.
    expect(hits).toBeGreaterThan(950);
  });

  it('takes what comes again soon after it was dropped among what stays', () => {
    const cache = new AnswerCache(SIZE);
    const again = named('again', 20);
    const askAll = (questions: Question[]) =>
      questions.filter((question) => ask(cache, question)).length;
    askAll(named('full', 3_000));
    askAll(again);
    expect(askAll(named('scan', 400))).toBe(0);
    expect(askAll(again)).toBe(0);
    expect(askAll(named('more', 800))).toBe(0);
    // A newer ghost may have taken the place of some.
    expect(askAll(again)).toBeGreaterThan(14);
  });

  it('follows a change of what is popular', () => {
    const cache = new AnswerCache(SIZE);
    for (const prefix of ['old', 'new']) {
      const questions = named(prefix, 1_000);
      for (let round = 0; round < 12; round++)
        for (const question of questions) ask(cache, question);
    }
    const hits = named('new', 1_000).filter((question) => ask(cache, question)).length;
    expect(hits).toBeGreaterThan(900);
  });

  it('stays within its memory, whatever the sizes', () => {
    const cache = new AnswerCache(SIZE);
    for (let i = 0; i < 5_000; i++) {
      const question = questionOf(`n${i}.example.com`);
      const answers = Array.from({ length: (i * 7919) % 60 }, () => a('192.0.2.1'));
      cache.put(question, responseTo(question, { answers }), 0);
    }
    expect(cache.usedBytes).toBeLessThanOrEqual(SIZE);
    expect(cache.usedBytes).toBeGreaterThan(SIZE * 0.9);
    expect(cache.entries).toBeGreaterThan(200);
  });

  it('has room in its index when all entries are as small as can be', () => {
    const cache = new AnswerCache(SIZE);
    for (let i = 0; i < 9_000; i++) {
      const question = questionOf(`${i}`);
      cache.put(question, responseTo(question, { flags: 0x8182 }), 0);
    }
    // 4096 slots, three quarters of them.
    expect(cache.entries).toBeLessThanOrEqual(3072);
    expect(cache.find(questionOf('8999'), 0)).toBe(CacheResult.fresh);
  });
});

describe('a flood of one name', () => {
  it('falls on different places of the index', () => {
    // All types with DO and CD of one name: their tags share the hash, which nobody outside knows.
    const cache = new AnswerCache(16 << 20);
    for (let qtype = 1000; qtype < 9000; qtype++) keep(cache, questionOf('www.example.com', qtype));
    const startMs = performance.now();
    for (let qtype = 1000; qtype < 9000; qtype++) {
      expect(cache.find(questionOf('www.example.com', qtype), 0)).toBe(CacheResult.miss);
    }
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(new KeyIndex(16).first(0)).toBe(-1);
  });
});
