import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Body, readBody } from './http1-connection.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Sends each byte in a buffer of the size that sockets are read into. */
function sendSlices(stream: PassThrough, bytes: Uint8Array): void {
  for (const byte of bytes) stream.write(Buffer.alloc(16_384, byte).subarray(0, 1));
}

describe('readBody', () => {
  it('reads a body that comes in pieces', async () => {
    const stream = new PassThrough();
    const body = new Promise<Body>((resolve) => {
      readBody(stream, resolve);
    });
    const bytes = Uint8Array.from({ length: 1_000 }, (_, i) => i);
    sendSlices(stream, bytes);
    stream.end();
    expect(await body).toEqual({ bytes: Buffer.from(bytes) });
  });

  it('does not hold the buffers in which the bytes of an unfinished body came', async () => {
    const stream = new PassThrough();
    readBody(stream, () => undefined);
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    sendSlices(stream, new Uint8Array(4_000));
    // V8 frees buffers beside this thread, after the collection.
    await expect
      .poll(() => {
        collectGarbage();
        return process.memoryUsage().arrayBuffers - before;
      })
      .toBeLessThan(2 ** 20);
    stream.destroy();
  });

  it.each([
    ['too large', (stream: PassThrough) => stream.write(new Uint8Array(4_097))],
    ['broken off', (stream: PassThrough) => stream.destroy()],
  ] as const)('tells of a body that is %s', async (expected, act) => {
    const stream = new PassThrough();
    const body = new Promise<Body>((resolve) => {
      readBody(stream, resolve);
    });
    act(stream);
    expect(await body).toBe(expected);
  });
});
