import { describe, expect, it } from 'vitest';
import { SharedReads } from './feed-server.js';

describe('SharedReads', () => {
  const begin = () => {
    const reads: { key: number; end: PromiseWithResolvers<string> }[] = [];
    const shared = new SharedReads<number, string>((key) => {
      const end = Promise.withResolvers<string>();
      reads.push({ key, end });
      return end.promise;
    });
    return { reads, shared };
  };

  it('gives all that ask during a read the one read after it', async () => {
    const { reads, shared } = begin();
    const first = shared.read(7);
    const others = [shared.read(7), shared.read(7), shared.read(7)];
    expect(reads).toHaveLength(1);
    reads[0]?.end.resolve('before');
    expect(await first).toBe('before');
    await expect.poll(() => reads.length).toBe(2);
    const late = shared.read(7);
    reads[1]?.end.resolve('after');
    expect(await Promise.all(others)).toEqual(['after', 'after', 'after']);
    await expect.poll(() => reads.length).toBe(3);
    reads[2]?.end.resolve('last');
    expect(await late).toBe('last');
  });

  it('reads different things at the same time', () => {
    const { reads, shared } = begin();
    void shared.read(1);
    void shared.read(2);
    expect(reads.map(({ key }) => key)).toEqual([1, 2]);
  });

  it('begins anew after a read has failed, also for those that waited for its end', async () => {
    const { reads, shared } = begin();
    const first = shared.read(1);
    const second = shared.read(1);
    reads[0]?.end.reject(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await expect.poll(() => reads.length).toBe(2);
    reads[1]?.end.resolve('yes');
    expect(await second).toBe('yes');
  });
});
