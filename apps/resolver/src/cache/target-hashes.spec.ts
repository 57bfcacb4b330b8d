import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { pointerTo } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { TargetHasher, TargetHashes } from '@weir/policy/answers';
import { questionOf, responseTo } from '../query/testing/questions.js';
import { a, cname, https } from '../query/testing/records.js';
import type { AnswerCache } from './answer-cache.js';
import { CacheResult } from './cache-reader.js';
import { newCache } from './testing/new-cache.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const ADDRESS = a('192.0.2.1');
const hashes = new SuffixHashes(KEY);

const newHashingCache = (sizeBytes = 1 << 20) =>
  newCache(sizeBytes, { targetHasher: new TargetHasher(KEY) });

function hashesOf(name: string): number[] {
  hashes.compute(toWireName(name), 0);
  return readHashes();
}

function readHashes(): number[] {
  return Array.from({ length: hashes.count }, (_, i) => [hashes.low[i], hashes.high[i]]).flat();
}

/** The hashes that the cache keeps for each target of the answer. */
function keptFor(cache: AnswerCache, name: string): number[][] | null {
  const question = questionOf(name, 1, { udpBytes: 1232 });
  if (cache.find(question, 1) !== CacheResult.fresh) return null;
  const { words, count } = cache.read(question.query).targets;
  let at = 0;
  return Array.from({ length: count }, () => {
    at = hashes.load(words, at);
    return readHashes();
  });
}

describe('the hashes of the targets of a cached answer', () => {
  it('are those of its CNAME and HTTPS targets, in their order', () => {
    const cache = newHashingCache();
    const question = questionOf('www.example.com', 1, { udpBytes: 1232 });
    const answers = [
      cname('Edge.example.net'),
      https(1, 'svc.example.org'),
      https(1, '.'),
      ADDRESS,
    ];
    cache.put(question, responseTo(question, { answers }), 0, cache.generation);
    expect(keptFor(cache, 'www.example.com')).toEqual(
      ['edge.example.net', 'svc.example.org'].map(hashesOf),
    );
  });

  it('follow an answer that moves in the cache or takes the place of another', () => {
    const cache = newHashingCache(1 << 17);
    const targetsOf = (n: number) => Array.from({ length: n % 5 }, (_, i) => `t${i}.n${n}.example`);
    const nameOf = (n: number) => `n${n}.example.com`;
    let found = 0;
    for (let n = 0; n < 2400; n++) {
      const question = questionOf(nameOf(n % 600), 1, { udpBytes: 1232 });
      const answers = [...targetsOf(n).map((name) => cname(name)), ADDRESS];
      cache.put(question, responseTo(question, { answers }), 0, cache.generation);
      for (const back of [0, 1, 40]) {
        const kept = n < back ? null : keptFor(cache, nameOf((n - back) % 600));
        if (kept === null) continue;
        expect(kept).toEqual(targetsOf(n - back).map(hashesOf));
        found++;
      }
    }
    expect(found).toBeGreaterThan(2400);
    expect(cache.evictions).toBeGreaterThan(0);
  });

  it.each([
    ['has 33 targets', Array.from({ length: 33 }, (_, i) => cname(`t${i}.example`))],
    [
      'has targets of very many labels',
      [cname('a.'.repeat(120)), cname('b.'.repeat(120)), cname('c.'.repeat(120))],
    ],
    ['has a malformed target', [{ ...cname('x.example'), rdata: pointerTo(4000) }]],
  ])('are not kept when the answer %s', (_, answers) => {
    const cache = newHashingCache();
    const question = questionOf('www.example.com', 1, { udpBytes: 1232 });
    cache.put(
      question,
      responseTo(question, { answers: [...answers, ADDRESS] }),
      0,
      cache.generation,
    );
    expect(cache.find(question, 1)).toBe(CacheResult.fresh);
    expect(cache.read(question.query).targets).toMatchObject({
      count: TargetHashes.unknown,
      size: 0,
    });
  });

  it('are none for a cached failure', () => {
    const cache = newHashingCache();
    const question = questionOf('www.example.com', 1, { udpBytes: 1232 });
    cache.putFailure(question, 2, 0, 0, cache.generation);
    cache.find(question, 1);
    expect(cache.read(question.query).targets.count).toBe(0);
  });
});
