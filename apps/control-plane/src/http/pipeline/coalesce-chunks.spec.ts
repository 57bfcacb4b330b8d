import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { coalesceChunks } from './begin-request.js';

const SIZES = [...Array<number>(5_000).fill(1), 600, 1, 511, 511, 70_000, 3];

it('a body has the bytes of its chunks, in order, in few pieces', async () => {
  const request = new IncomingMessage(new Socket());
  coalesceChunks(request);
  const sent = SIZES.map((size, i) => Buffer.alloc(size, i));
  for (const chunk of sent) request.push(chunk);
  request.push(null);
  const pieces = (await Array.fromAsync(request.iterator({ destroyOnReturn: false }))) as Buffer[];
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat(sent));
  expect(pieces.length).toBeLessThan(8);
});

it('the beginning of a body arrives although the rest does not come', async () => {
  const request = new IncomingMessage(new Socket());
  coalesceChunks(request);
  request.push(Buffer.from('a'));
  request.push(Buffer.from('b'));
  const [piece] = await Array.fromAsync(request.take(1));
  expect(String(piece)).toBe('ab');
});
