import { describe, expect, it } from 'vitest';
import { CallCounter } from './caller-limits.js';

describe('CallCounter', () => {
  const begin = (counter: CallCounter, times: number, nowMs: number, token = 'a') =>
    Array.from({ length: times }, () => counter.begin(token, nowMs)).filter(Boolean).length;

  it('lets a token begin so many calls at once, until some have ended', () => {
    const counter = new CallCounter({ perSecond: 100, atOnce: 3 });
    expect(begin(counter, 5, 0)).toBe(3);
    counter.end('a');
    expect(begin(counter, 5, 0)).toBe(1);
  });

  it('lets a token begin so many calls a second, whether they have ended or not', () => {
    const counter = new CallCounter({ perSecond: 10, atOnce: 1000 });
    expect(begin(counter, 50, 0)).toBe(10);
    expect(begin(counter, 50, 99)).toBe(0);
    expect(begin(counter, 50, 500)).toBe(5);
    expect(begin(counter, 50, 60_000)).toBe(10);
  });

  it('counts each token by itself', () => {
    const counter = new CallCounter({ perSecond: 2, atOnce: 2 });
    expect([begin(counter, 9, 0, 'a'), begin(counter, 9, 0, 'b')]).toEqual([2, 2]);
  });

  it('takes nothing for a call that it refuses', () => {
    const counter = new CallCounter({ perSecond: 2, atOnce: 1 });
    expect(begin(counter, 9, 0)).toBe(1);
    counter.end('a');
    expect(begin(counter, 9, 0)).toBe(1);
  });
});
