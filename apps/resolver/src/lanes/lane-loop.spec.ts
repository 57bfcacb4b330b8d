import { BATCH } from '@weir/udp-batch';
import { expect, it } from 'vitest';
import { createLane } from '../testing/lane-without-thread.js';
import { MOST_TURNS_TO_EMPTY } from './lane-loop.js';
import { LaneOrder, LaneWord } from './lane-task.js';

const EBADF = 9;

/** @returns after how many turns the order was carried out */
function turnsUntilDrained(queries: number): number {
  const { turn, words } = createLane(queries);
  turn();
  Atomics.store(words, LaneWord.order, LaneOrder.drain);
  for (let turns = 1; turns <= 2 * MOST_TURNS_TO_EMPTY; turns++) {
    turn();
    if (Atomics.load(words, LaneWord.done) === LaneOrder.drain) return turns;
  }
  return Infinity;
}

it('a lane carries out an order when its sockets are empty', () => {
  expect(turnsUntilDrained(1)).toBe(1);
});

it('a lane carries out an order in a flood, after as many batches as its sockets can hold', () => {
  expect(turnsUntilDrained(BATCH)).toBe(MOST_TURNS_TO_EMPTY);
});

it('a lane tells that it cannot read a socket, also while another one has queries', () => {
  const { turn, words } = createLane(8, true);
  expect(words[LaneWord.errno]).toBe(0);
  turn(0);
  expect(words[LaneWord.errno]).toBe(EBADF);
  turn();
  expect(words[LaneWord.errno]).toBe(EBADF);
});
