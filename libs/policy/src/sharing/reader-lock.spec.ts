import { describe, expect, it } from 'vitest';
import { createReaderLock, ReadSide, WriteSide } from './reader-lock.js';

// Within one thread. shared-policy.spec.ts has readers in threads of their own.
describe('the reader lock', () => {
  const setUp = (): { readers: ReadSide[]; writer: WriteSide } => {
    const lock = createReaderLock(2);
    return { readers: [0, 1].map((i) => new ReadSide(lock, i)), writer: new WriteSide(lock) };
  };

  it('writes when nobody reads', () => {
    const { readers, writer } = setUp();
    const written: number[] = [];
    expect(writer.tryWrite(() => written.push(1), 0)).toBe(true);
    readers[0].enter();
    readers[0].leave();
    expect(writer.tryWrite(() => written.push(2), 0)).toBe(true);
    expect(written).toEqual([1, 2]);
  });

  it('does not write while any reader reads, and lets readers enter after a try that failed', () => {
    const { readers, writer } = setUp();
    readers[1].enter();
    let isWritten = false;
    const write = (): void => void (isWritten = true);
    expect(writer.tryWrite(write, 2)).toBe(false);
    expect(isWritten).toBe(false);
    readers[0].enter();
    readers[0].leave();
    readers[1].leave();
    expect(writer.tryWrite(write, 2)).toBe(true);
    expect(isWritten).toBe(true);
  });

  it('lets readers enter after a write that threw', () => {
    const { readers, writer } = setUp();
    const fail = (): never => {
      throw new RangeError('full');
    };
    expect(() => writer.tryWrite(fail, 1)).toThrow('full');
    readers[0].enter();
    readers[0].leave();
    expect(writer.tryWrite(() => undefined, 1)).toBe(true);
  });

  it('tells a reader that the writer has kept it out for two seconds', () => {
    const lock = createReaderLock(1);
    const writer = new WriteSide(lock);
    let waitedMs = 0;
    const reader = new ReadSide(lock, 0, () => {
      waitedMs = performance.now() - startedMs;
      writer.leave();
    });
    expect(writer.tryEnter(0)).toBe(true);
    const startedMs = performance.now();
    reader.enter();
    expect(waitedMs).toBeGreaterThan(1_900);
    reader.leave();
  });
});
