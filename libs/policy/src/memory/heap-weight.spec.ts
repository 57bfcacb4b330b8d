import { describe, expect, it } from 'vitest';
import { sharedBytes } from './heap-weight.js';

const BYTES = 8 * 2 ** 20;
const BUFFERS = 250;

describe('sharedBytes', () => {
  it('are collected when they are dropped, so that 2 GB one after the other need only a part of it', () => {
    const before = process.memoryUsage.rss();
    let most = 0;
    for (let i = 0; i < BUFFERS; i++) {
      sharedBytes(BYTES).fill(1);
      most = Math.max(most, process.memoryUsage.rss() - before);
    }
    expect(most).toBeLessThan((BUFFERS * BYTES) / 2);
  });
});
