import { describe, expect, it } from 'vitest';
import { DownloadPool } from './download-pool.js';

describe('DownloadPool', () => {
  const poolOf = (places: number) => {
    const clock = { nowMs: 0 };
    return {
      clock,
      pool: new DownloadPool(
        places,
        () => clock.nowMs,
        () => 0,
      ),
    };
  };

  it('has the given number of places, and a free place can be taken again', () => {
    const { pool } = poolOf(2);
    const leaves = [pool.enter(), pool.enter()];
    expect(leaves).not.toContain(null);
    expect(pool.enter()).toBeNull();
    leaves[0]?.();
    expect([pool.active, pool.enter() === null]).toEqual([1, false]);
  });

  it('tells each to come when it is its turn, as places become free', () => {
    const { pool } = poolOf(10);
    // A place becomes free each half second.
    const waits = Array.from({ length: 1_000 }, () => pool.retryAfterSeconds());
    expect(waits.slice(0, 4)).toEqual([1, 1, 2, 2]);
    expect(waits[199]).toBe(100);
    expect(pool.refused).toBe(1_000);
    // Nobody waits for longer than five minutes; those spread as well.
    expect(Math.max(...waits)).toBe(300);
  });

  it('learns how long a download takes', () => {
    const { pool, clock } = poolOf(1);
    for (let i = 0; i < 100; i++) {
      const leave = pool.enter();
      clock.nowMs += 60_000;
      leave?.();
    }
    expect(pool.retryAfterSeconds()).toBeGreaterThanOrEqual(59);
  });

  it('begins a new queue when the one before is over', () => {
    const { pool, clock } = poolOf(10);
    for (let i = 0; i < 100; i++) pool.retryAfterSeconds();
    clock.nowMs += 60_000;
    expect(pool.retryAfterSeconds()).toBe(1);
  });

  it('tells nobody to come before what is made can be there', () => {
    const { pool } = poolOf(10);
    expect([pool.retryAfterSeconds(7_000), pool.retryAfterSeconds(7_000)]).toEqual([8, 8]);
  });
});
