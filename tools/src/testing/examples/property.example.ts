import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('(every) number', () => {
  it("isn't large", () => {
    fc.assert(
      fc.property(fc.nat(), (n) => {
        process.stdout.write(`tried ${n}\n`);
        expect(n).toBeLessThan(1000);
      }),
    );
  });

  it('is not large later', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (n) => {
        process.stdout.write(`tried ${n}\n`);
        expect(await Promise.resolve(n)).toBeLessThan(1000);
      }),
    );
  });

  it('is a number', () => {
    const tried: number[] = [];
    fc.assert(fc.property(fc.integer(), (n) => void tried.push(n)));
    process.stdout.write(`tried ${tried.join()}\n`);
  });
});
