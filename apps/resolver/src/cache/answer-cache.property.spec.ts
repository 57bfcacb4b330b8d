import { Rcode, writeForwardedAnswer } from '@weir/dns-wire';
import { decodeMessage } from '@weir/dns-wire/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Question } from '../query/question.js';
import { questionOf, responseTo, soa } from '../query/testing/questions.js';
import { a } from '../query/testing/records.js';
import type { AnswerCache } from './answer-cache.js';
import { CacheResult } from './cache-reader.js';
import { newCache } from './testing/new-cache.js';

const DAY = 86_400;
const out = new Uint8Array(65_535);

interface Known {
  storedAt: number;
  ttl: number;
  mark: number;
  count: number;
  rcode: number;
}

/** What has the same NXDOMAIN: the name with DO. */
const nameOf = ({ nameHashLow, query }: Question): string => `${nameHashLow} ${query.dnssecOk}`;

/** A simple, unbounded model of the cache. It knows the states of entries, but not when to refresh. */
class Oracle {
  private readonly known = new Map<Question, Known>();
  private readonly nxDomains = new Map<string, Known>();
  /** The failures of a question since its last answer, as if that answer had been evicted. */
  private readonly failures = new Map<Question, Known>();

  /** @param only the other entry, of the question or of the name, was evicted */
  find(
    question: Question,
    now: number,
    only?: 'question' | 'name',
  ): { state: 'nothing' | 'fresh' | 'stale'; known?: Known } {
    const own = stateOf(this.known.get(question), now);
    if (only === 'question') return own;
    if (only === 'name') return stateOf(this.nxDomains.get(nameOf(question)), now);
    if (own.state === 'fresh' && own.known.rcode !== Rcode.servFail) return own;
    const ofName = stateOf(this.nxDomains.get(nameOf(question)), now);
    return ofName.state === 'nothing' ? own : ofName;
  }

  /** Whether a cache that may have evicted the answer can still hold a failure. */
  mayHaveFailed(question: Question, now: number): boolean {
    return stateOf(this.failures.get(question), now).state === 'fresh';
  }

  keep(question: Question, known: Known): void {
    if (known.rcode === Rcode.servFail) {
      this.failures.set(question, failureAfter(this.failures.get(question), known));
      const old = this.find(question, known.storedAt);
      if (old.state !== 'nothing' && old.known?.rcode !== Rcode.servFail) return;
      // Of several failures at once, the first one counts.
      if (old.state === 'fresh') return;
      this.known.set(question, failureAfter(this.known.get(question), known));
      return;
    }
    this.failures.delete(question);
    this.known.delete(question);
    this.nxDomains.delete(nameOf(question));
    if (known.ttl === 0) return;
    if (known.rcode === Rcode.nxDomain) this.nxDomains.set(nameOf(question), known);
    else this.known.set(question, known);
  }
}

/** A failure holds for 5 s, and twice as long as the one before if that ended less than 300 s ago. */
function failureAfter(last: Known | undefined, failure: Known): Known {
  const isRepeated =
    last?.rcode === Rcode.servFail && failure.storedAt < last.storedAt + last.ttl + 300;
  return { ...failure, ttl: isRepeated ? Math.min(2 * last.ttl, 300) : failure.ttl };
}

function stateOf(known: Known | undefined, now: number) {
  if (known === undefined) return { state: 'nothing' } as const;
  const age = now - known.storedAt;
  if (age < known.ttl) return { state: 'fresh', known } as const;
  const isStale = known.rcode !== Rcode.servFail && age < known.ttl + DAY;
  return { state: isStale ? 'stale' : 'nothing', known } as const;
}

const questions = Array.from({ length: 24 }, (_, i) => `n${i}`).flatMap((label) =>
  [1, 28].flatMap((qtype) => [
    questionOf(`${label}.example.com`, qtype),
    questionOf(`${label}.example.com`, qtype, { udpBytes: 1232, ednsTtl: 0x8000 }),
  ]),
);

interface Step {
  readonly question: number;
  readonly pause: number;
  readonly action: string;
  readonly ttl: number;
  readonly count: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  question: fc.oneof(fc.nat(7), fc.nat(questions.length - 1)),
  pause: fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 0, max: 8 }) },
    { weight: 1, arbitrary: fc.constantFrom(DAY - 10, DAY) },
  ),
  action: fc.constantFrom('find', 'find', 'answer', 'nxdomain', 'servfail'),
  ttl: fc.constantFrom(0, 1, 5, 10, 100),
  count: fc.constantFrom(1, 2, 9),
});

function play(steps: readonly Step[], sizeBytes: number, isBounded: boolean) {
  const cache = newCache(sizeBytes);
  const oracle = new Oracle();
  let now = 0;
  let hits = 0;
  steps.forEach(({ question: at, pause, action, ttl, count }, mark) => {
    const question = questions[at];
    now += pause;
    if (action === 'find') {
      hits += check(cache, oracle, question, now, isBounded) ? 1 : 0;
      return;
    }
    if (action === 'servfail') {
      cache.put(question, responseTo(question, { flags: 0x8182 }), now, cache.generation);
      oracle.keep(question, { storedAt: now, ttl: 5, mark, count: 0, rcode: Rcode.servFail });
      return;
    }
    const address = a(`192.0.${mark >> 8}.${mark & 255}`, ttl);
    const answers = Array.from({ length: count }, () => ({
      ...address,
      type: question.query.qtype,
    }));
    const message =
      action === 'answer' ? { answers } : { flags: 0x8183, authorities: [soa(ttl, 50)] };
    cache.put(question, responseTo(question, message), now, cache.generation);
    const known =
      action === 'answer'
        ? { ttl, count, rcode: 0 }
        : { ttl: Math.min(ttl, 50), count: 0, rcode: Rcode.nxDomain };
    oracle.keep(question, { storedAt: now, mark, ...known });
    expect(cache.usedBytes).toBeLessThanOrEqual(sizeBytes);
  });
  return { cache, hits };
}

function check(
  cache: AnswerCache,
  oracle: Oracle,
  question: Question,
  now: number,
  isBounded: boolean,
): boolean {
  const found = cache.find(question, now);
  const isFresh = found === CacheResult.fresh || found === CacheResult.expiring;
  const isStale = found === CacheResult.stale || found === CacheResult.failing;
  // A bounded cache may have evicted entries; it must not have others.
  if (isBounded && found === CacheResult.miss) return false;
  if (isBounded && isFresh && cache.read(question.query).response.rcode === Rcode.servFail) {
    expect(oracle.mayHaveFailed(question, now)).toBe(true);
    return false;
  }
  const peeked = isFresh || isStale ? cache.read(question.query).response.rcode : Rcode.noError;
  const entry = peeked === Rcode.nxDomain ? 'name' : 'question';
  const { state, known } = oracle.find(question, now, isBounded ? entry : undefined);
  expect(isFresh ? 'fresh' : isStale ? 'stale' : 'nothing').toBe(state);
  if (known === undefined || state === 'nothing') return false;
  const { bytes, query } = question;
  const response = isFresh ? cache.read(query).response : cache.readStale(query).response;
  const length = writeForwardedAnswer(out, response, bytes, query, 65_535, 0x7fff_ffff);
  const answer = decodeMessage(out.slice(0, length));
  expect(answer).toMatchObject({ rcode: known.rcode, trailing: 0 });
  expect(answer.answers).toHaveLength(known.count);
  const ttl = isFresh ? known.ttl - (now - known.storedAt) : 30;
  for (const record of [...answer.answers, ...answer.authorities]) expect(record.ttl).toBe(ttl);
  for (const record of answer.answers) {
    expect([...record.rdata]).toEqual([192, 0, known.mark >> 8, known.mark & 255]);
  }
  return isFresh;
}

describe('AnswerCache', () => {
  it('behaves like an unbounded Map', () => {
    let hits = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 200 }), (steps) => {
        const played = play(steps, 1 << 20, false);
        hits += played.hits;
        expect(played.cache.evictions).toBe(0);
      }),
      { numRuns: 200 },
    );
    expect(hits).toBeGreaterThan(50);
  });

  it('may forget entries when memory is small, but never returns a wrong one', () => {
    const many = fc.array(step, { minLength: 500, maxLength: 1500 });
    let [hits, evictions] = [0, 0];
    fc.assert(
      fc.property(many, (steps) => {
        const played = play(steps, 12 * 1024, true);
        hits += played.hits;
        evictions += played.cache.evictions;
      }),
      // Without shrinking: with a thousand steps it takes minutes. The seed in the message repeats the failure.
      { numRuns: 40, endOnFailure: true },
    );
    // About 560 and 390 in 150 runs, never below 480 and 240.
    expect(hits).toBeGreaterThan(100);
    expect(evictions).toBeGreaterThan(50);
  });
});
