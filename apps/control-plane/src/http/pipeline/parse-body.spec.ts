import { expect, it } from 'vitest';
import { otherTurns } from '../../testing/other-turns.js';
import { parseBody } from './parse-body.js';

const CHUNKS = 100;

/** A body whose chunks have all arrived. */
async function* arrived(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < CHUNKS; i++) yield await Promise.resolve(chunk);
}

it('lets others run while the chunks of a long body are read', async () => {
  const chunk = Buffer.from('"'.padEnd(10_000, 'x'));
  expect(await otherTurns(() => parseBody(arrived(chunk)))).toBeGreaterThan(CHUNKS / 2);
});

it('reads no more of a body that is refused', async () => {
  let read = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of arrived(Buffer.from('['))) {
      read++;
      yield chunk;
    }
  }
  expect(await parseBody(counted())).toEqual({ state: 'tooLarge' });
  expect(read).toBeLessThan(CHUNKS / 2);
});
