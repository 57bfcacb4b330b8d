import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Deadline } from './deadline.js';
import { domainRulesOf, type Part, partText } from './parts.js';
import { PostponedChanges } from './postponed-changes.js';

it('resumes or fails the changes of a part, in order, when the wait for it has ended', async () => {
  const ends = new Map<string, PromiseWithResolvers<unknown>>();
  const said: string[] = [];
  const postponed = new PostponedChanges((part) => {
    const end = Promise.withResolvers<unknown>();
    ends.set(partText(part), end);
    return end.promise.then(() => undefined);
  });
  const add = (part: Part, name: string) =>
    postponed.add({
      part,
      deadline: new Deadline(60_000),
      resume: () => said.push(`${name} resumes`),
      fail: (reason) => said.push(`${name}: ${String(reason)}`),
    });
  const [one, two] = [domainRulesOf(1), domainRulesOf(2)];
  add(one, 'a');
  add(two, 'b');
  add(domainRulesOf(1), 'c');
  expect([ends.size, said]).toEqual([2, []]);
  ends.get(partText(one))?.resolve(null);
  await turn();
  expect([said, postponed.has(one), postponed.has(two)]).toEqual([
    ['a resumes', 'c resumes'],
    false,
    true,
  ]);
  ends.get(partText(two))?.reject('too long');
  await turn();
  expect([said.at(-1), postponed.has(two)]).toEqual(['b: too long', false]);
  expect(postponed.has(undefined)).toBe(false);
});

it('fails only the first change of a part when its deadline has passed', async () => {
  const waits: { deadline: Deadline; end: PromiseWithResolvers<undefined> }[] = [];
  const said: string[] = [];
  const postponed = new PostponedChanges((_part, deadline) => {
    const end = Promise.withResolvers<undefined>();
    waits.push({ deadline, end });
    return end.promise;
  });
  const [part, lockTimeout] = [domainRulesOf(1), { code: '55P03' }];
  const deadlines = [1, 2, 3].map(() => new Deadline(60_000));
  for (const [i, deadline] of deadlines.entries()) {
    postponed.add({
      part,
      deadline,
      resume: () => said.push(`${i} resumes`),
      fail: () => said.push(`${i} fails`),
    });
  }
  waits[0].end.reject(lockTimeout);
  await turn();
  expect([said, waits.map(({ deadline }) => deadline)]).toEqual([
    ['0 fails'],
    deadlines.slice(0, 2),
  ]);
  waits[1].end.resolve(undefined);
  await turn();
  expect(said).toEqual(['0 fails', '1 resumes', '2 resumes']);
});
