import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { countAsHeap, sharedBytes } from './heap-weight.js';

const BYTES = 8 * 2 ** 20;
const BUFFERS = 250;
/** Of a policy. */
const CHUNK_BYTES = 256 * 1024;
const CHUNKS = 2_000;

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

describe('countAsHeap', () => {
  it('takes no memory itself', () => {
    // Growable ones take memory only where they are written.
    const growable = { maxByteLength: CHUNK_BYTES };
    const chunks = Array.from(
      { length: CHUNKS },
      () => new SharedArrayBuffer(CHUNK_BYTES, growable),
    );
    const residentBefore = process.memoryUsage.rss();
    const externalBefore = getHeapStatistics().external_memory;
    for (const chunk of chunks) countAsHeap(chunk);
    const resident = process.memoryUsage.rss() - residentBefore;
    expect(resident).toBeLessThan((CHUNKS * CHUNK_BYTES) / 4);
    const external = getHeapStatistics().external_memory - externalBefore;
    // What the test before has dropped may be collected meanwhile.
    expect(external).toBeGreaterThan((CHUNKS * CHUNK_BYTES) / 2);
    expect(chunks).toHaveLength(CHUNKS);
  });
});
