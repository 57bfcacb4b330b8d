import { hashDomain, parseHashKey } from '@weir/dns-name';
import { describe, expect, it } from 'vitest';
import { questionOf } from '../query/testing/questions.js';
import { ZoneFailures } from './zone-failures.js';

const key = parseHashKey('000102030405060708090a0b0c0d0e0f');

function failuresOf(names: readonly string[], showNames = true) {
  const clock = { seconds: 0 };
  const failures = new ZoneFailures({ key, showNames, nowSeconds: () => clock.seconds });
  for (const name of names) failures.add(questionOf(name));
  const countsAt = (seconds: number) => {
    clock.seconds = seconds;
    return failures.counts();
  };
  return { failures, clock, countsAt };
}

describe('ZoneFailures', () => {
  it('counts by zone, most failures first', () => {
    const names = ['a.one.example', 'ONE.example', 'b.two.example', 'c.d.one.example', 'test'];
    expect(failuresOf(names).countsAt(0)).toEqual([
      { zone: 'one.example', failures: 3, error: 0 },
      { zone: 'two.example', failures: 1, error: 0 },
      { zone: 'test', failures: 1, error: 0 },
    ]);
  });

  it('counts three labels where two are a registry', () => {
    const names = ['www.example.co.uk', 'co.uk', 'www.example.uk', 'www.example.com.br'];
    const zones = failuresOf(names).countsAt(0);
    expect(zones.map(({ zone }) => zone)).toEqual([
      'example.co.uk',
      'co.uk',
      'example.uk',
      'example.com.br',
    ]);
  });

  it('has the hashes of the management API unless names may be shown', () => {
    const zone = hashDomain('one.example', key);
    const counts = failuresOf(['www.ONE.example'], false).countsAt(0);
    expect(counts).toEqual([{ zone, failures: 1, error: 0 }]);
  });

  it('forgets after five to ten minutes', () => {
    const { failures, clock, countsAt } = failuresOf(['a.example']);
    clock.seconds = 310;
    failures.add(questionOf('b.a.example'));
    expect(countsAt(599)).toEqual([{ zone: 'a.example', failures: 2, error: 0 }]);
    expect(countsAt(611)).toEqual([{ zone: 'a.example', failures: 1, error: 0 }]);
    expect(countsAt(2000)).toEqual([]);
  });

  it('has at most 64 zones', () => {
    const names = Array.from({ length: 500 }, (_, i) => `n${i}.example`);
    expect(failuresOf(names).countsAt(0)).toHaveLength(64);
  });
});
