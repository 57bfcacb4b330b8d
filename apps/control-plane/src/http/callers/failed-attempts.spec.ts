import { describe, expect, it } from 'vitest';
import { FailedAttempts } from './caller-limits.js';

const MINUTE_MS = 60_000;

describe('FailedAttempts', () => {
  const delays = (attempts: FailedAttempts, source: string, count: number, nowMs = 0) =>
    Array.from({ length: count }, () => attempts.add(source, nowMs).delayMs);

  it('delays the answers of a source longer and longer, after ten', () => {
    const attempts = new FailedAttempts();
    expect(delays(attempts, 'a', 10)).toEqual(Array<number>(10).fill(0));
    expect(delays(attempts, 'a', 9)).toEqual([
      100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000,
    ]);
    expect(attempts.total).toBe(19);
  });

  it('counts each source by itself', () => {
    const attempts = new FailedAttempts();
    delays(attempts, 'a', 20);
    expect(attempts.add('b', 0)).toEqual({ count: 1, delayMs: 0 });
  });

  it('forgets a source after ten minutes without a failure', () => {
    const attempts = new FailedAttempts();
    delays(attempts, 'a', 20);
    expect(attempts.add('a', 9 * MINUTE_MS).count).toBe(21);
    expect(attempts.add('a', 18 * MINUTE_MS).count).toBe(22);
    expect(attempts.add('a', 28 * MINUTE_MS).count).toBe(1);
  });

  it('remembers a bounded number of sources, those that failed last', () => {
    const attempts = new FailedAttempts(2);
    for (const source of ['a', 'b', 'a', 'c']) attempts.add(source, 0);
    expect(attempts.add('a', 0).count).toBe(3);
    expect(attempts.add('b', 0).count).toBe(1);
  });
});
