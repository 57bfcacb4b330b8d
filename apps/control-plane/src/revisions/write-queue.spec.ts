import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { DatabaseError } from '../platform/database/database-errors.js';
import { Deadline, WriteQueue } from './write-queue.js';

const LATER = new Deadline(3_600_000);

it('runs tasks one at a time, in order, whether the others succeed or fail', async () => {
  const queue = new WriteQueue();
  const log: string[] = [];
  const task = (name: string, fails = false) =>
    queue.run(async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    }, LATER);
  const outcomes = await Promise.allSettled([task('a'), task('b', true), task('c')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(log.map((line) => line[0]).join('')).toBe('aabbcc');
});

it('rejects a task that is not started in time, and never starts it', async () => {
  const queue = new WriteQueue();
  let finish = (): void => undefined;
  const first = queue.run(() => new Promise<void>((resolve) => (finish = resolve)), LATER);
  let isStarted = false;
  const rejected = queue.run(async () => {
    isStarted = true;
    return Promise.resolve();
  }, new Deadline(20));
  await expect(rejected).rejects.toThrow(new DatabaseError('busy').message);
  finish();
  await first;
  // The next task still waits for the first one, and then runs.
  expect(await queue.run(() => Promise.resolve('next'), LATER)).toBe('next');
  expect(isStarted).toBe(false);
});

it('never starts a removed task, and the tasks behind it move up', async () => {
  const queue = new WriteQueue();
  let finish = (): void => undefined;
  const first = queue.run(() => new Promise<void>((resolve) => (finish = resolve)), LATER);
  let isStarted = false;
  const removed = async () => {
    isStarted = true;
    return Promise.resolve();
  };
  void queue.run(removed, LATER);
  const last = queue.run(() => Promise.resolve('last'), LATER);
  queue.remove(removed);
  finish();
  await first;
  expect(await last).toBe('last');
  expect(isStarted).toBe(false);
});

it('fails the tasks that wait when a task finds out that the database does not answer', async () => {
  const queue = new WriteQueue();
  const silent = queue.run(async () => {
    await Promise.resolve();
    throw new DatabaseError('silent');
  }, LATER);
  const broken = queue.run(() => Promise.resolve(), LATER);
  await expect(silent).rejects.toThrow(DatabaseError);
  await expect(broken).rejects.toThrow(DatabaseError);
  expect(await queue.run(() => Promise.resolve(7), LATER)).toBe(7);
});

it('keeps no reference to the result of a task', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const queue = new WriteQueue();
  const outcomes: WeakRef<object>[] = [];
  for (let i = 0; i < 10; i++) {
    const task = () => Promise.resolve({ i });
    outcomes.push(new WeakRef(await queue.run(task, LATER)));
  }
  // A WeakRef keeps its target until the current event loop iteration ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(outcomes.map((one) => one.deref()).filter((one) => one !== undefined)).toEqual([]);
});
