import type { PortSpread } from '@weir/udp-batch';
import { describe, expect, it } from 'vitest';
import { AwakeLanes } from './awake-lanes.js';

const WINDOW_MS = 100;

/** The first of four lanes, with a clock of its own. */
function start() {
  const spreads: number[][] = [];
  const kernel = { isFull: false };
  const spread = {
    over: (numbers: readonly number[]) => {
      if (kernel.isFull) throw new Error('ENOMEM');
      spreads.push([...numbers]);
    },
  };
  const refusals: unknown[] = [];
  let cpuMs = 0;
  let nowMs = 0;
  const words = Int32Array.of(4);
  const onRefused = (error: unknown) => refusals.push(error);
  const awake = new AwakeLanes(spread as unknown as PortSpread, words, 4, () => cpuMs, onRefused);
  /** Lets time pass, in which the lane uses that share of a core. */
  const pass = (ms: number, share: number) => {
    for (let passed = 0; passed < ms; passed += WINDOW_MS) {
      nowMs += WINDOW_MS;
      cpuMs += WINDOW_MS * share;
      awake.onTurn(nowMs, true);
    }
  };
  const turn = (isEmptied: boolean) => {
    awake.onTurn(nowMs, isEmptied);
  };
  return { count: () => words[0], spreads, pass, turn, kernel, refusals };
}

describe('AwakeLanes', () => {
  it('parks one lane after the other while there is little to do, and not the first one', () => {
    const { count, pass, spreads } = start();
    pass(20_000, 0.05);
    expect(count()).toBe(1);
    expect(spreads).toEqual([[0, 1, 2], [0, 1], [0]]);
  });

  it('wakes another one when the lanes are busy, up to all', () => {
    const { count, pass } = start();
    pass(20_000, 0.05);
    pass(WINDOW_MS, 0.8);
    expect(count()).toBe(2);
    pass(10 * WINDOW_MS, 0.8);
    expect(count()).toBe(4);
  });

  it('goes on with those that are awake when the kernel refuses a change, and tries again', () => {
    const { count, pass, turn, kernel, refusals } = start();
    pass(20_000, 0.05);
    kernel.isFull = true;
    pass(WINDOW_MS, 0.8);
    for (let i = 0; i < 8; i++) turn(false);
    expect([count(), refusals.length]).toEqual([1, 3]);
    kernel.isFull = false;
    for (let i = 0; i < 4; i++) turn(false);
    expect(count()).toBe(4);
  });

  it('keeps as many as they are at loads between', () => {
    const { count, pass } = start();
    pass(20_000, 0.05);
    pass(WINDOW_MS, 0.8);
    pass(20_000, 0.5);
    expect(count()).toBe(2);
    // Two at a quarter of a core each: one would use half.
    pass(20_000, 0.25);
    expect(count()).toBe(2);
    pass(20_000, 0.15);
    expect(count()).toBe(1);
  });

  it('wakes all at once when queries pile up', () => {
    const { count, pass, turn } = start();
    pass(20_000, 0.05);
    for (let i = 0; i < 3; i++) turn(false);
    turn(true);
    for (let i = 0; i < 3; i++) turn(false);
    expect(count()).toBe(1);
    turn(false);
    expect(count()).toBe(4);
  });
});
