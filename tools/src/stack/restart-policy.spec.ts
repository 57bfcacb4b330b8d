import { describe, expect, it } from 'vitest';
import { RestartPolicy } from './supervised-process.js';

describe('RestartPolicy', () => {
  /**
   * A process that runs for each of these times before it ends, and is started again after the pause that it is
   * given.
   */
  const pauses = (...runsMs: readonly number[]) => {
    const policy = new RestartPolicy();
    let nowMs = 5_000;
    return runsMs.map((runMs) => {
      const startedMs = nowMs;
      nowMs += runMs;
      const { pauseMs, isFailing } = policy.ended(startedMs, nowMs);
      nowMs += pauseMs;
      return isFailing ? `failing ${pauseMs}` : pauseMs;
    });
  };

  it('doubles the delay up to ten seconds', () => {
    expect(pauses(...Array<number>(8).fill(20_000))).toEqual([
      200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000,
    ]);
  });

  it('starts with the initial delay again after a stable minute', () => {
    expect(pauses(1_000, 1_000, 60_000, 59_999)).toEqual([200, 400, 200, 400]);
  });

  it('slows down at the fifth exit within a minute', () => {
    expect(pauses(0, 0, 0, 0, 0)).toEqual([200, 400, 800, 1_600, 'failing 10000']);
    expect(pauses(15_000, 15_000, 15_000, 15_000, 15_000)).toEqual([200, 400, 800, 1_600, 3_200]);
  });

  it('stays slow until the process has been stable for a minute', () => {
    expect(pauses(0, 0, 0, 0, 0, 100, 59_999, 60_000)).toEqual([
      ...[200, 400, 800, 1_600],
      ...['failing 10000', 'failing 10000', 'failing 10000'],
      200,
    ]);
  });
});
