import { expect, it } from 'vitest';
import { HeldBodies } from './body-stream.js';

/** A body that has arrived. */
async function* body(bytes: number): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new Uint8Array(bytes));
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const { length } of chunks) bytes += length;
  return bytes;
}

it('counts small bodies, and refuses only long ones for the sake of others', async () => {
  const bodies = new HeldBodies(1_000, 100);
  const small = Array.from({ length: 20 }, () => bodies.open(body(100)));
  for (const one of small) await drain(one.body);
  await expect(drain(bodies.open(body(101)).body)).rejects.toMatchObject({ code: 'tooManyBodies' });
  await drain(bodies.open(body(100)).body);
  for (const one of small) one.release();
  await drain(bodies.open(body(101)).body);
});

it('counts a refused body no longer', async () => {
  const bodies = new HeldBodies(1_000, 100);
  const long = bodies.open(body(900));
  await drain(long.body);
  await expect(drain(bodies.open(body(500)).body)).rejects.toMatchObject({ code: 'tooManyBodies' });
  await drain(bodies.open(body(100)).body);
  long.release();
  await drain(bodies.open(body(900)).body);
});
