import type { PortSpread } from '@weir/udp-batch';
import { describe, expect, it } from 'vitest';
import { AwakeLanes, createAwakeWords } from './awake-lanes.js';

const WINDOW_MS = 100;

/** The first of four lanes, with a clock of its own. */
function start() {
  const spreads: number[][] = [];
  const spread = { over: (numbers: readonly number[]) => spreads.push([...numbers]) };
  let cpuMs = 0;
  let nowMs = 0;
  const awake = new AwakeLanes(spread as unknown as PortSpread, createAwakeWords(), 4, () => cpuMs);
  awake.assign([0, 1, 2, 3], true);
  /** Lets time pass, in which the lane uses that share of a core. */
  const pass = (ms: number, share: number) => {
    for (let passed = 0; passed < ms; passed += WINDOW_MS) {
      nowMs += WINDOW_MS;
      cpuMs += WINDOW_MS * share;
      awake.onTurn(nowMs, true);
    }
  };
  return { awake, spreads, pass, turn: (isEmptied: boolean) => awake.onTurn(nowMs, isEmptied) };
}

describe('AwakeLanes', () => {
  it('parks one lane after the other while there is little to do, and not the first one', () => {
    const { awake, pass, spreads } = start();
    pass(20_000, 0.05);
    expect(awake.count).toBe(1);
    expect(spreads).toEqual([[0, 1, 2, 3], [0, 1, 2], [0, 1], [0]]);
  });

  it('wakes another one when the lanes are busy, up to all', () => {
    const { awake, pass } = start();
    pass(20_000, 0.05);
    pass(WINDOW_MS, 0.8);
    expect(awake.count).toBe(2);
    pass(10 * WINDOW_MS, 0.8);
    expect(awake.count).toBe(4);
  });

  it('keeps as many as they are at loads between', () => {
    const { awake, pass } = start();
    pass(20_000, 0.05);
    pass(WINDOW_MS, 0.8);
    pass(20_000, 0.5);
    expect(awake.count).toBe(2);
    // Two at a quarter of a core each: one would use half.
    pass(20_000, 0.25);
    expect(awake.count).toBe(2);
    pass(20_000, 0.15);
    expect(awake.count).toBe(1);
  });

  it('wakes all at once when queries pile up', () => {
    const { awake, pass, turn } = start();
    pass(20_000, 0.05);
    for (let i = 0; i < 3; i++) turn(false);
    turn(true);
    for (let i = 0; i < 3; i++) turn(false);
    expect(awake.count).toBe(1);
    turn(false);
    expect(awake.count).toBe(4);
  });

  it('leaves the choice to the main thread while some lanes cannot answer', () => {
    const { awake, pass, turn, spreads } = start();
    awake.assign([1, 3], false);
    pass(20_000, 0.05);
    for (let i = 0; i < 10; i++) turn(false);
    expect(awake.count).toBe(2);
    expect(spreads.at(-1)).toEqual([1, 3]);
    awake.assign([0, 1, 2, 3], true);
    pass(20_000, 0.05);
    expect(awake.count).toBe(1);
  });
});
