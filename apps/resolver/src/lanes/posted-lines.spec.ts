import { describe, expect, it } from 'vitest';
import { LANE_WORDS } from './lane-task.js';
import { linesTaken, postLines } from './posted-lines.js';

const HALF = 'x'.repeat(256 * 1024);

describe('postLines', () => {
  const create = () => {
    const words = new Int32Array(new SharedArrayBuffer(4 * LANE_WORDS));
    const posted: number[] = [];
    const write = postLines(words, (_lines, count) => posted.push(count));
    return { words, posted, write };
  };

  it('sends half a megabyte before the main thread has taken any of it', () => {
    const { words, posted, write } = create();
    expect([1, 2, 3].map((count) => write(HALF, count))).toEqual([true, true, false]);
    linesTaken(words, HALF);
    expect([4, 5].map((count) => write(HALF, count))).toEqual([true, false]);
    expect(posted).toEqual([1, 2, 4]);
  });

  it('sends a longer piece when nothing is on its way', () => {
    const { posted, write } = create();
    expect(write(`${HALF}${HALF}${HALF}`, 7)).toBe(true);
    expect(write('line\n', 1)).toBe(false);
    expect(posted).toEqual([7]);
  });
});
