import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { parseBody } from './parse-body.js';

const BYTES = 1_000_000;

it('a body in chunks of one byte needs a few times its bytes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  let heldBytes = 0;
  async function* body(): AsyncGenerator<Uint8Array> {
    const before = used();
    yield Buffer.from('"');
    // As the HTTP parser makes them.
    for (let i = 0; i < BYTES; i++) yield await Promise.resolve(new Uint8Array([0x78]));
    heldBytes = used() - before;
    yield Buffer.from('"');
  }
  expect(await parseBody(body())).toEqual({ value: 'x'.repeat(BYTES) });
  expect(heldBytes).toBeLessThan(5 * BYTES);
});
