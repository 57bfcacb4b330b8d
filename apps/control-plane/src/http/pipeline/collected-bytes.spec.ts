import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CollectedBytes } from './parse-body.js';

it('has the bytes of its chunks, in order, however they were cut', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 5_000 }), { maxLength: 40 });
  fc.assert(
    fc.property(chunks, (all) => {
      const bytes = new CollectedBytes();
      for (const chunk of all) bytes.append(chunk);
      expect(Buffer.from(bytes.view()).equals(Buffer.concat(all))).toBe(true);
      expect(bytes.length).toBe(Buffer.concat(all).length);
    }),
    { examples: [[[]], [[new Uint8Array(200_000).fill(7)]]] },
  );
});
