import { expect, it } from 'vitest';
import { otherTurns } from '../../testing/other-turns.js';
import { parseBody } from './parse-body.js';

const CHUNKS = 100;

/** A body whose chunks have all arrived. */
async function* arrived(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < CHUNKS; i++) yield await Promise.resolve(chunk);
}

it.each([
  ['that is refused', '['],
  ['that is parsed', '"'],
])('lets others run while the chunks of a long body are read %s', async (_what, first) => {
  const chunk = Buffer.from(first.padEnd(10_000, 'x'));
  expect(await otherTurns(() => parseBody(arrived(chunk)))).toBeGreaterThan(CHUNKS / 2);
});
