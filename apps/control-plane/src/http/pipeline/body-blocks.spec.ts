import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BodyBlocks } from './parse-body.js';

it('has the bytes of its chunks, in order, however they were cut', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 5_000 }), { maxLength: 40 });
  fc.assert(
    fc.property(chunks, (all) => {
      const blocks = new BodyBlocks();
      for (const chunk of all) blocks.append(chunk);
      expect(Buffer.from(blocks.whole()).equals(Buffer.concat(all))).toBe(true);
      expect(blocks.length).toBe(Buffer.concat(all).length);
    }),
    { examples: [[[]], [[new Uint8Array(200_000).fill(7)]]] },
  );
});
