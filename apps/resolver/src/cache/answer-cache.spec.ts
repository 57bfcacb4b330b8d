import { Ede, Rcode, type Response, writeForwardedAnswer } from '@weir/dns-wire';
import { decodeMessage, type DecodedMessage, opt, option, wireName } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { NameRange } from '../query/name-range.js';
import type { Question } from '../query/question.js';
import { questionOf, responseTo, soa } from '../query/testing/questions.js';
import { a, cname, txt } from '../query/testing/records.js';
import { AnswerCache } from './answer-cache.js';
import { createCacheMemory } from './cache-memory.js';
import { CacheResult } from './cache-reader.js';
import { newCache } from './testing/new-cache.js';
import { WriteMutex } from './write-lock.js';

const DAY = 86_400;
const NO_CAP = 0x7fff_ffff;
const out = new Uint8Array(65_535);

const www = questionOf('www.example.com', 1, { udpBytes: 1232 });

/** The answer as a client gets it. */
function toClient({ bytes, query }: Question, response: Response): DecodedMessage {
  const length = writeForwardedAnswer(out, response, bytes, query, 65_535, NO_CAP);
  return decodeMessage(out.slice(0, length));
}

/** The caches of two threads. */
function createTwo(): [AnswerCache, AnswerCache] {
  const memory = createCacheMemory(1 << 20, 2);
  return [new AnswerCache({ memory, thread: 0 }), new AnswerCache({ memory, thread: 1 })];
}

function cacheWith(question: Question, message: Parameters<typeof responseTo>[1], at = 0) {
  const cache = newCache(1 << 20);
  cache.put(question, responseTo(question, message), at, cache.generation);
  return cache;
}

describe('a cached answer', () => {
  it('is the upstream answer with lower TTLs, in the case of the query, not authoritative', () => {
    const message = {
      flags: 0x85a0,
      answers: [cname('edge.example.net', 300), a('192.0.2.1', 100)],
      authorities: [soa(900, 900)],
      additionals: [a('192.0.2.53', 200), opt(1232, 0, option(15, [0, 6]))],
    };
    const cache = cacheWith(www, message, 1000);
    const asked = questionOf('WWW.eXample.com', 1, { udpBytes: 1232, flags: 0x0120 });
    expect(cache.find(asked, 1040)).toBe(CacheResult.fresh);
    const answer = toClient(asked, cache.read(asked.query).response);
    expect(answer).toMatchObject({
      flags: 0x81a0,
      questions: [{ qname: 'WWW.eXample.com' }],
      answers: [
        { owner: 'WWW.eXample.com', type: 5, ttl: 260 },
        { type: 1, ttl: 60 },
      ],
      authorities: [{ type: 6, ttl: 860 }],
      ede: [6],
      trailing: 0,
    });
    expect(answer.additionals[0]).toMatchObject({ type: 1, ttl: 160 });
    expect(cache.find(asked, 1099)).toBe(CacheResult.fresh);
    expect(toClient(asked, cache.read(asked.query).response).answers[1].ttl).toBe(1);
    expect(cache.find(asked, 1100)).toBe(CacheResult.stale);
    expect(cache.counters).toMatchObject({ hit: 2, miss: 1 });
  });

  it('outlives its additional records, which it then comes without', () => {
    const cache = cacheWith(www, {
      answers: [a('192.0.2.1', 100)],
      authorities: [soa(200, 200)],
      additionals: [a('192.0.2.53', 200), a('192.0.2.54', 40), opt(1232)],
    });
    const answerAt = (at: number) => {
      expect(cache.find(www, at)).toBe(CacheResult.fresh);
      return toClient(www, cache.read(www.query).response);
    };
    expect(answerAt(39).additionals.map(({ ttl }) => ttl)).toEqual([161, 1, 0]);
    for (const at of [40, 41, 89]) {
      const answer = answerAt(at);
      expect(answer).toMatchObject({
        answers: [{ ttl: 100 - at }],
        authorities: [{}],
        trailing: 0,
      });
      expect(answer.additionals).toMatchObject([{ type: 41 }]);
    }
    expect(cache.find(www, 100)).toBe(CacheResult.stale);
    expect(toClient(www, cache.readStale(www.query).response).additionals).toMatchObject([
      { type: 41 },
    ]);
  });

  it('is used only for the same type, DO and CD', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1')] });
    const others = [
      questionOf('www.example.com', 28),
      questionOf('www.example.com', 1, { udpBytes: 1232, ednsTtl: 0x8000 }),
      questionOf('www.example.com', 1, { flags: 0x0110 }),
      questionOf('ww.example.com'),
      questionOf('example.com'),
      questionOf('.'),
    ];
    for (const question of others) expect(cache.find(question, 1)).toBe(CacheResult.miss);
    expect(cache.find(questionOf('www.example.com'), 1)).toBe(CacheResult.fresh);
  });

  it('is not used for another name with the same hash', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1')] });
    const { nameHashLow, nameHashHigh } = www;
    const forged = { ...questionOf('www.example.net'), nameHashLow, nameHashHigh };
    expect(cache.find(forged, 1)).toBe(CacheResult.miss);
    cache.put(forged, responseTo(forged, { answers: [a('192.0.2.2')] }), 1, cache.generation);
    expect(cache.entries).toBe(2);
    for (const [question, last] of [
      [www, 1],
      [forged, 2],
    ] as const) {
      expect(cache.find(question, 2)).toBe(CacheResult.fresh);
      expect(toClient(question, cache.read(question.query).response).answers[0].rdata[3]).toBe(
        last,
      );
    }
  });

  it('is replaced by a newer one, larger or smaller', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1', 10)] });
    const many = Array.from({ length: 9 }, (_, i) => a(`192.0.2.${i}`, 20));
    for (const [at, answers] of [
      [5, many],
      [6, [a('192.0.2.8', 30)]],
      [7, many],
    ] as const) {
      cache.put(www, responseTo(www, { answers }), at, cache.generation);
      expect(cache.find(www, at)).toBe(CacheResult.fresh);
      expect(toClient(www, cache.read(www.query).response).answers).toHaveLength(answers.length);
      expect(cache.entries).toBe(1);
    }
  });

  it('is removed when the new answer is not cacheable', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1')] });
    cache.put(www, responseTo(www, { answers: [a('192.0.2.2', 0)] }), 1, cache.generation);
    expect(cache.find(www, 1)).toBe(CacheResult.miss);
    expect(cache.entries).toBe(0);
  });

  describe('of many records', () => {
    const question = questionOf('www.example.com', 16, { udpBytes: 1232 });
    const texts = (count: number) => Array.from({ length: count }, () => txt('x'.repeat(80), 60));

    it('is whole when it is as large as a message can be', () => {
      const cache = newCache(4 << 20);
      const response = responseTo(question, { answers: texts(700) });
      expect(response.recordsEnd).toBeGreaterThan(64_000);
      cache.put(question, response, 0, cache.generation);
      expect(cache.find(question, 1)).toBe(CacheResult.fresh);
      const { answers } = toClient(question, cache.read(question.query).response);
      expect(answers.map(({ ttl }) => ttl)).toEqual(texts(700).map(() => 59));
      expect(answers.map(({ rdata }) => rdata[80])).toEqual(texts(700).map(() => 0x78));
    });

    it('is not stored when it is large beside the cache, and the older answer is removed', () => {
      const cache = newCache(1 << 20);
      for (const [count, found] of [
        [200, CacheResult.fresh],
        [300, CacheResult.miss],
      ] as const) {
        cache.put(question, responseTo(question, { answers: texts(count) }), 1, cache.generation);
        expect(cache.find(question, 1)).toBe(found);
      }
      expect(cache.entries).toBe(0);
    });
  });
});

describe('a negative answer', () => {
  it.each([0x8183, 0x8180])(
    '(flags %i) is cached for the SOA minimum, and its SOA record has that TTL',
    (flags) => {
      const cache = cacheWith(www, { flags, authorities: [soa(600, 60)] });
      expect(cache.find(www, 59)).toBe(CacheResult.fresh);
      expect(toClient(www, cache.read(www.query).response)).toMatchObject({
        rcode: flags & 15,
        authorities: [{ ttl: 1 }],
      });
      expect(cache.find(www, 60)).toBe(CacheResult.stale);
    },
  );

  it('is not cached without an SOA record', () => {
    expect(cacheWith(www, { flags: 0x8183 }).find(www, 0)).toBe(CacheResult.miss);
  });
});

describe('NXDOMAIN', () => {
  const nxdomain = { flags: 0x8183, authorities: [soa(600, 60)] };
  const nodata = { authorities: [soa(600, 60)] };
  const ofType = (qtype: number) => questionOf('www.example.com', qtype, { udpBytes: 1232 });

  it('is cached for the name, whatever the type (RFC 2308 §5)', () => {
    const cache = cacheWith(www, nxdomain);
    for (const qtype of [1, 28, 65, 5]) {
      const asked = ofType(qtype);
      expect(cache.find(asked, 20)).toBe(CacheResult.fresh);
      expect(toClient(asked, cache.read(asked.query).response)).toMatchObject({
        rcode: 3,
        questions: [{ qname: 'www.example.com', qtype }],
        authorities: [{ type: 6, ttl: 40 }],
        trailing: 0,
      });
    }
    expect(cache.entries).toBe(1);
    expect(cache.find(ofType(28), 60)).toBe(CacheResult.stale);
  });

  it('is not shown to other DO or CD bits, nor to other names', () => {
    const cache = cacheWith(www, nxdomain);
    const others = [
      questionOf('www.example.com', 28, { udpBytes: 1232, ednsTtl: 0x8000 }),
      questionOf('www.example.com', 28, { flags: 0x0110 }),
      questionOf('x.www.example.com', 28),
      questionOf('example.com', 28),
    ];
    for (const question of others) expect(cache.find(question, 1)).toBe(CacheResult.miss);
  });

  it('at the end of a CNAME chain is about the target, so it is cached for the type only', () => {
    const cache = cacheWith(www, { ...nxdomain, answers: [cname('edge.example.net', 300)] });
    expect(cache.find(www, 1)).toBe(CacheResult.fresh);
    expect(cache.find(ofType(28), 1)).toBe(CacheResult.miss);
    expect(cache.find(ofType(5), 1)).toBe(CacheResult.miss);
  });

  it('is forgotten for all types when a later answer says that the name exists', () => {
    for (const message of [
      { answers: [a('192.0.2.1')] },
      nodata,
      { answers: [a('192.0.2.1', 0)] },
    ]) {
      const cache = cacheWith(ofType(28), nxdomain);
      cache.put(www, responseTo(www, message), 1, cache.generation);
      expect(cache.find(ofType(28), 1)).toBe(CacheResult.miss);
    }
  });

  it('replaces the older answer of its type; those of other types live on', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1')] });
    cache.put(
      ofType(16),
      responseTo(ofType(16), { answers: [txt('still here')] }),
      0,
      cache.generation,
    );
    cache.put(www, responseTo(www, nxdomain), 1, cache.generation);
    expect(cache.find(www, 1)).toBe(CacheResult.fresh);
    expect(cache.read(www.query).response.rcode).toBe(3);
    expect(cache.find(ofType(16), 1)).toBe(CacheResult.fresh);
    expect(cache.read(ofType(16).query).response.answerCount).toBe(1);
    // When that has expired, the name still does not exist.
    cache.put(
      www,
      responseTo(www, { ...nxdomain, authorities: [soa(900, 900)] }),
      2,
      cache.generation,
    );
    expect(cache.find(ofType(16), 300)).toBe(CacheResult.fresh);
    expect(cache.read(ofType(16).query).response.rcode).toBe(3);
  });

  it('answers a type whose last attempt failed', () => {
    const cache = cacheWith(ofType(28), { flags: 0x8182 });
    cache.put(www, responseTo(www, nxdomain), 1, cache.generation);
    expect(cache.find(ofType(28), 2)).toBe(CacheResult.fresh);
    expect(cache.read(ofType(28).query).response.rcode).toBe(3);
  });

  it('is kept when an upstream fails for another type, and is served stale', () => {
    const cache = cacheWith(www, nxdomain);
    cache.putFailure(ofType(28), Rcode.servFail, Ede.none, 70, cache.generation);
    expect(cache.find(ofType(28), 71)).toBe(CacheResult.failing);
    expect(cache.findStale(ofType(28), 76)).toBe(true);
    expect(toClient(www, cache.readStale(www.query).response)).toMatchObject({
      rcode: 3,
      ede: [19],
    });
  });
});

describe('a failure', () => {
  /** Fails at that time. @returns for how many seconds that is cached */
  const failAt = (cache: AnswerCache, now: number): number => {
    cache.putFailure(www, Rcode.servFail, Ede.none, now, cache.generation);
    let seconds = 0;
    while (cache.find(www, now + seconds) === CacheResult.fresh) seconds++;
    return seconds;
  };

  it('that comes again is cached twice as long each time, up to five minutes (RFC 9520 §3.2)', () => {
    const cache = newCache(1 << 20);
    let now = 0;
    const lives = Array.from({ length: 8 }, () => {
      const seconds = failAt(cache, now);
      now += seconds + 1;
      return seconds;
    });
    expect(lives).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    // For five minutes nobody has asked.
    expect(failAt(cache, now + 300)).toBe(5);
    cache.put(www, responseTo(www, { answers: [a('192.0.2.1', 10)] }), now + 310, cache.generation);
    expect(failAt(cache, now + 320 + DAY)).toBe(5);
  });

  it('of a question that several threads have asked at once is cached as one', () => {
    const [cache, other] = createTwo();
    for (const one of [cache, other]) {
      one.putFailure(www, Rcode.servFail, Ede.none, 10, cache.generation);
    }
    expect(cache.find(www, 14)).toBe(CacheResult.fresh);
    expect(cache.find(www, 15)).toBe(CacheResult.miss);
  });

  it('changes nothing about an answer that another thread has got meanwhile', () => {
    const [cache, other] = createTwo();
    cache.put(www, responseTo(www, { answers: [a('192.0.2.1', 5)] }), 100, cache.generation);
    other.putFailure(www, Rcode.servFail, Ede.none, 101, cache.generation);
    expect(cache.find(www, 104)).toBe(CacheResult.fresh);
    expect(cache.find(www, 106)).toBe(CacheResult.stale);
  });

  it('is asked for again at once when an upstream is back that was down', () => {
    const cache = newCache(1 << 20);
    for (const now of [0, 6, 17]) failAt(cache, now);
    expect(cache.find(www, 30)).toBe(CacheResult.fresh);
    cache.retryFailures(30);
    expect(cache.find(www, 30)).toBe(CacheResult.miss);
    expect(failAt(cache, 31)).toBe(5);
    const expired = cacheWith(www, { answers: [a('192.0.2.1', 10)] });
    expired.putFailure(www, Rcode.servFail, Ede.none, 20, expired.generation);
    expect(expired.find(www, 25)).toBe(CacheResult.failing);
    expired.retryFailures(25);
    expect(expired.find(www, 25)).toBe(CacheResult.stale);
  });

  it('of an upstream is cached for five seconds, with EDE 13 unless it has its own', () => {
    const cache = cacheWith(www, { flags: 0x8182 });
    expect(cache.find(www, 4)).toBe(CacheResult.fresh);
    expect(toClient(www, cache.read(www.query).response)).toMatchObject({
      rcode: 2,
      ede: [13],
      answers: [],
    });
    expect(cache.find(www, 5)).toBe(CacheResult.miss);
    expect(cache.findStale(www, 5)).toBe(false);
    const own = cacheWith(www, { flags: 0x8185, additionals: [opt(1232, 0, option(15, [0, 6]))] });
    own.find(www, 0);
    expect(toClient(www, own.read(www.query).response)).toMatchObject({ rcode: 5, ede: [6] });
  });

  it('never replaces a fresh or stale answer', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1', 10)] });
    cache.put(www, responseTo(www, { flags: 0x8182 }), 5, cache.generation);
    expect(cache.find(www, 5)).toBe(CacheResult.fresh);
    expect(toClient(www, cache.read(www.query).response)).toMatchObject({
      rcode: 0,
      answers: [{ ttl: 5 }],
    });
    cache.putFailure(www, Rcode.servFail, Ede.none, 20, cache.generation);
    // RFC 8767 §5.
    expect(cache.find(www, 49)).toBe(CacheResult.failing);
    expect(cache.find(www, 50)).toBe(CacheResult.stale);
    expect(cache.entries).toBe(1);
  });

  it('is replaced by an answer, and replaces an answer that is too old to use', () => {
    const cache = cacheWith(www, { flags: 0x8182 });
    cache.put(www, responseTo(www, { answers: [a('192.0.2.1', 10)] }), 1, cache.generation);
    expect(cache.find(www, 1)).toBe(CacheResult.fresh);
    expect(toClient(www, cache.read(www.query).response)).toMatchObject({ rcode: 0, ede: [] });
    cache.putFailure(www, Rcode.servFail, 22, 11 + DAY, cache.generation);
    expect(cache.find(www, 11 + DAY)).toBe(CacheResult.fresh);
    expect(toClient(www, cache.read(www.query).response)).toMatchObject({ rcode: 2, ede: [22] });
  });
});

describe('an expired answer', () => {
  it.each([
    ['an answer', { answers: [a('192.0.2.1', 10)] }, 3],
    ['NXDOMAIN', { flags: 0x8183, authorities: [soa(10, 10)] }, 19],
  ])('%s is served stale for a day with TTL 30 and an EDE (RFC 8767)', (_, message, ede) => {
    const cache = cacheWith(www, message);
    expect(cache.findStale(www, 10 + DAY - 1)).toBe(true);
    const answer = toClient(www, cache.readStale(www.query).response);
    expect(answer.ede).toEqual([ede]);
    expect([...answer.answers, ...answer.authorities].map(({ ttl }) => ttl)).toEqual([30]);
    expect(cache.counters.stale).toBe(1);
    expect(cache.findStale(www, 10 + DAY)).toBe(false);
    expect(cache.find(www, 10 + DAY)).toBe(CacheResult.miss);
  });
});

describe('an answer that expires soon', () => {
  const hits = (cache: AnswerCache, count: number) => {
    for (let i = 0; i < count; i++) cache.find(www, 1);
  };

  it('is refreshed once in the last tenth of its lifetime if it was hit twice before', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1', 100)] });
    hits(cache, 2);
    expect(cache.find(www, 89)).toBe(CacheResult.fresh);
    expect(cache.find(www, 90)).toBe(CacheResult.expiring);
    expect(cache.beginRefresh()).toBe(true);
    expect(cache.beginRefresh()).toBe(false);
    expect(cache.find(www, 91)).toBe(CacheResult.fresh);
    expect(cache.counters.prefetch).toBe(0);
    cache.put(www, responseTo(www, { answers: [a('192.0.2.2', 100)] }), 92, cache.generation);
    expect(cache.counters.prefetch).toBe(1);
    expect(cache.find(www, 185)).toBe(CacheResult.fresh);
    expect(cache.find(www, 186)).toBe(CacheResult.fresh);
    expect(cache.find(www, 187)).toBe(CacheResult.expiring);
  });

  it('is refreshed at the next hit when the refresh was cancelled', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1', 100)] });
    hits(cache, 2);
    expect(cache.find(www, 90)).toBe(CacheResult.expiring);
    cache.beginRefresh();
    cache.cancelRefreshOf(www, 90);
    expect(cache.find(www, 90)).toBe(CacheResult.expiring);
  });

  it('is not refreshed if it was hit less often', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1', 100)] });
    hits(cache, 1);
    expect(cache.find(www, 95)).toBe(CacheResult.fresh);
  });

  it('has its own TTL for a thread whose time is that of a second before', () => {
    const [cache, reader] = createTwo();
    cache.put(www, responseTo(www, { answers: [a('192.0.2.1', 60)] }), 1001, cache.generation);
    expect(reader.find(www, 1000)).toBe(CacheResult.fresh);
    expect(toClient(www, reader.read(www.query).response).answers[0].ttl).toBe(60);
  });

  it('is refreshed at a hit ten seconds later when nothing came of a refresh', () => {
    const [cache, reader] = createTwo();
    cache.put(www, responseTo(www, { answers: [a('192.0.2.1', 1000)] }), 0, cache.generation);
    hits(cache, 2);
    expect(cache.find(www, 900)).toBe(CacheResult.expiring);
    cache.beginRefresh();
    // A reader that does not leave: the answer is not kept.
    reader.enter();
    cache.put(www, responseTo(www, { answers: [a('192.0.2.2', 1000)] }), 903, cache.generation);
    expect(cache.skippedWrites).toBe(1);
    reader.leave();
    expect(cache.find(www, 909)).toBe(CacheResult.fresh);
    expect(cache.find(www, 910)).toBe(CacheResult.expiring);
    expect(cache.beginRefresh()).toBe(true);
    expect(cache.beginRefresh()).toBe(false);
  });

  it('is refreshed again half a minute after a refresh has failed', () => {
    const cache = cacheWith(www, { answers: [a('192.0.2.1', 1000)] });
    hits(cache, 2);
    expect(cache.find(www, 900)).toBe(CacheResult.expiring);
    cache.beginRefresh();
    cache.putFailure(www, Rcode.servFail, Ede.none, 903, cache.generation);
    expect(cache.find(www, 932)).toBe(CacheResult.fresh);
    expect(cache.find(www, 933)).toBe(CacheResult.expiring);
  });
});

describe('a question that was asked before a flush', () => {
  const address = { answers: [a('192.0.2.1')] };
  const flushes: Record<string, (cache: AnswerCache) => Generator<number>> = {
    everything: (cache) => cache.flushAll(),
    'other names': (cache) => {
      const name = wireName('example.net');
      return cache.flush(new NameRange({ name, isBelowIncluded: true, hasNxDomainCut: false }));
    },
  };

  it.each(Object.keys(flushes))('leaves nothing in the cache (flush of %s)', (which) => {
    const [cache, other] = createTwo();
    const { generation } = cache;
    const flush = flushes[which](other);
    flush.next();
    cache.put(www, responseTo(www, address), 0, generation);
    cache.putFailure(www, Rcode.servFail, Ede.none, 0, generation);
    expect([...flush].length).toBeGreaterThan(0);
    cache.put(www, responseTo(www, address), 0, generation);
    expect(cache.find(www, 0)).toBe(CacheResult.miss);
    expect(cache.skippedWrites).toBe(3);
    cache.put(www, responseTo(www, address), 0, cache.generation);
    expect(other.find(www, 0)).toBe(CacheResult.fresh);
  });

  it('is kept by no thread while everything is being removed, even if it is new', () => {
    const [cache, other] = createTwo();
    const flush = cache.flushAll();
    flush.next();
    other.put(www, responseTo(www, address), 0, other.generation);
    expect([...flush].at(-1)).toBe(0);
    expect(cache.find(www, 0)).toBe(CacheResult.miss);
    expect(cache.skippedWrites).toBe(1);
  });
});

describe('a thread that holds the mutex', () => {
  it('keeps nothing else from going on: answers are not kept, and a flush tries again', () => {
    const memory = createCacheMemory(1 << 20, 2);
    const cache = new AnswerCache({ memory, thread: 0 });
    cache.put(www, responseTo(www, { answers: [a('192.0.2.1')] }), 0, 0);
    const mutex = new WriteMutex(memory);
    expect(mutex.tryTake()).toBe(true);
    const flush = cache.flushAll();
    expect(flush.next()).toEqual({ done: false, value: 0 });
    cache.put(www, responseTo(www, { answers: [a('192.0.2.2')] }), 0, 0);
    expect([cache.skippedWrites, cache.generation]).toEqual([1, 0]);
    expect(cache.find(www, 0)).toBe(CacheResult.fresh);
    expect(cache.read(www.query).response.bytes.at(www.query.questionEnd + 15)).toBe(1);
    mutex.release();
    expect([...flush].at(-1)).toBe(1);
    expect([cache.entries, cache.generation]).toEqual([0, 1]);
  });
});
