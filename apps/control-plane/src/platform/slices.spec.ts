import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Slices } from './slices.js';
import { SmallCalls } from './small-calls.js';

/** Longer than a slice. */
const STEP_MS = 20;
/** Longer than a slice waits for small calls. */
const PAUSE_MS = 10;
/** Longer than a call counts as small. */
const SMALL_MS = 200;
const TURNS = 50;

let calls: SmallCalls;
let slices: Slices;
let events: string[];

beforeEach(() => {
  // Time stands still unless a test moves it: nothing here depends on the machine.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  calls = new SmallCalls();
  slices = new Slices(calls);
  events = [];
});
afterEach(() => {
  vi.useRealTimers();
});

/** A long computation: each of its steps takes longer than a slice. */
async function compute(name: string, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    if (slices.isOver) await slices.next();
    events.push(name);
    vi.advanceTimersByTime(STEP_MS);
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await nextTurn();
    events.push('turn');
  }
}

it('runs one slice of one computation in a turn, each in its turn', async () => {
  const others = turns(TURNS);
  const computing = Promise.all(['a', 'b', 'c'].map((name) => compute(name, 3)));
  await computing;
  await others;
  const computed = events.filter((event) => event !== 'turn');
  expect(computed).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'c', 'b', 'c']);
  const inOneTurn = events.filter((event, i) => event !== 'turn' && events[i + 1] !== 'turn');
  expect(inOneTurn).toEqual([]);
});

it('gives no slice while a small call is in progress, and goes on when it has ended', async () => {
  const end = calls.begin();
  const computing = compute('a', 3);
  await turns(TURNS);
  expect(events.filter((event) => event !== 'turn')).toEqual(['a']);
  end();
  await computing;
  expect(events.filter((event) => event !== 'turn')).toEqual(['a', 'a', 'a']);
});

it('waits for small calls only for a while, after each slice', async () => {
  calls.begin();
  const computing = compute('a', 3);
  for (const slice of [1, 2, 3]) {
    await turns(TURNS);
    expect(events.filter((event) => event !== 'turn')).toHaveLength(slice);
    vi.advanceTimersByTime(PAUSE_MS);
  }
  await computing;
});

it('does not wait for a call that takes so long that it is not small', async () => {
  calls.begin();
  vi.advanceTimersByTime(SMALL_MS);
  await compute('a', 3);
  expect(events).toEqual(['a', 'a', 'a']);
});

it('begins anew after a pause', async () => {
  await compute('a', 2);
  await turns(3);
  vi.advanceTimersByTime(STEP_MS);
  expect(slices.isOver).toBe(false);
});
