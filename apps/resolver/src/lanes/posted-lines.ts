import type { WriteLines } from '../query-log/query-log.js';
import { LaneWord } from './lane-task.js';

/** Maximum number of characters on their way from one lane to the main thread. */
const CAPACITY = 512 * 1024;

/**
 * Sends lines of the query log to the main thread, within a bound: that thread may have no time. It tells with
 * `linesTaken` what it has got.
 * @param words of the lane
 */
export function postLines(
  words: Int32Array,
  post: (lines: string, count: number) => void,
): WriteLines {
  return (lines, count) => {
    const waiting = Atomics.load(words, LaneWord.postedLines);
    if (waiting > 0 && waiting + lines.length > CAPACITY) return false;
    Atomics.add(words, LaneWord.postedLines, lines.length);
    post(lines, count);
    return true;
  };
}

/** The main thread has got these lines. */
export function linesTaken(words: Int32Array, lines: string): void {
  Atomics.sub(words, LaneWord.postedLines, lines.length);
}
