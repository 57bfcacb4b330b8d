import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { QueueTimeoutError, Turns } from './turns.js';

const AGES_MS = 60_000;

it('tasks are done one after the other, in order, whatever the others come to', async () => {
  const turns = new Turns(AGES_MS);
  const log: string[] = [];
  const task = (name: string, fails = false) =>
    turns.take(async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const outcomes = await Promise.allSettled([task('a'), task('b', true), task('c')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(log.map((line) => line[0]).join('')).toBe('aabbcc');
});

it('a task whose turn does not come in time is refused, and never begun', async () => {
  const turns = new Turns(20);
  let finish = (): void => undefined;
  const first = turns.take(() => new Promise<void>((resolve) => (finish = resolve)));
  let begun = false;
  const refused = turns.take(async () => {
    begun = true;
    return Promise.resolve();
  });
  await expect(refused).rejects.toThrow(QueueTimeoutError);
  finish();
  await first;
  // Those after it still wait for the first one, and then it is theirs.
  expect(await turns.take(() => Promise.resolve('next'))).toBe('next');
  expect(begun).toBe(false);
});

it('a task that is withdrawn is never begun, and those behind it move up', async () => {
  const turns = new Turns(AGES_MS);
  let finish = (): void => undefined;
  const first = turns.take(() => new Promise<void>((resolve) => (finish = resolve)));
  let begun = false;
  const withdrawn = async () => {
    begun = true;
    return Promise.resolve();
  };
  void turns.take(withdrawn);
  const last = turns.take(() => Promise.resolve('last'));
  turns.withdraw(withdrawn);
  finish();
  await first;
  expect(await last).toBe('last');
  expect(begun).toBe(false);
});

it('nothing is kept of what a task came to', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const turns = new Turns(AGES_MS);
  const outcomes: WeakRef<object>[] = [];
  for (let i = 0; i < 10; i++) {
    const task = () => Promise.resolve({ i });
    outcomes.push(new WeakRef(await turns.take(task)));
  }
  // A reference that was made in this turn of the event loop holds until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(outcomes.map((one) => one.deref()).filter((one) => one !== undefined)).toEqual([]);
});
