import { describe, expect, it, vi } from 'vitest';
import { stopAndThrow, stopInOrder, stopTogether } from './stopping.js';

describe.each([
  ['stopInOrder', stopInOrder],
  ['stopTogether', stopTogether],
])('%s', (_, stop) => {
  it('calls those behind one that throws, and throws the first error', async () => {
    const stopped: string[] = [];
    const fail = (name: string) => (): never => {
      stopped.push(name);
      throw new Error(name);
    };
    const stopping = stop([
      () => stopped.push('first'),
      fail('second'),
      () => Promise.resolve().then(fail('third')),
      () => Promise.resolve(stopped.push('last')),
    ]);
    await expect(stopping).rejects.toThrow('second');
    expect(stopped.sort()).toEqual(['first', 'last', 'second', 'third']);
  });

  it('waits for all of them', async () => {
    let isStopped = false;
    await stop([
      () => undefined,
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        isStopped = true;
      },
    ]);
    expect(isStopped).toBe(true);
  });
});

it('stopAndThrow calls all, throws the error that led to the stop, and logs that of a stop', async () => {
  const log = { error: vi.fn() };
  const last = vi.fn();
  const failure = new Error('of a stop');
  const fail = (): never => {
    throw failure;
  };
  await expect(stopAndThrow(new Error('the cause'), [fail, last], log)).rejects.toThrow(
    'the cause',
  );
  expect(last).toHaveBeenCalledOnce();
  expect(log.error).toHaveBeenCalledExactlyOnceWith({ err: failure }, 'stopping failed');
});
