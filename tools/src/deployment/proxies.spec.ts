import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isChannelMessage, RespFrames } from './proxies.js';

const MESSAGE = '>3\r\n$7\r\nmessage\r\n$4\r\nweir\r\n$5\r\na\r\nbc\r\n';
const FRAMES = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':7\r\n',
  '_\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '*-1\r\n',
  '*2\r\n$1\r\na\r\n*1\r\n:1\r\n',
  '%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n',
  MESSAGE,
  MESSAGE.replace('>', '*'),
  '>3\r\n$9\r\nsubscribe\r\n$4\r\nweir\r\n:1\r\n',
];

describe('RespFrames', () => {
  it('finds the same frames for any chunks of the bytes', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...FRAMES)), cuts, (frames, sizes) => {
        const bytes = Buffer.from(frames.join(''));
        const parser = new RespFrames();
        const found: string[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length];
          found.push(...parser.push(bytes.subarray(at, at + size)).map(String));
          at += size;
        }
        expect(found).toEqual(frames);
      }),
    );
  });
});

describe('isChannelMessage', () => {
  it('returns true for pub/sub messages of both protocol versions, and for nothing else', () => {
    expect(FRAMES.map((frame) => isChannelMessage(Buffer.from(frame)))).toEqual(
      FRAMES.map((frame) => frame.includes('message')),
    );
  });
});
