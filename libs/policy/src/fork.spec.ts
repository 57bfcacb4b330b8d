import { type Operation, RuleVerdict } from '@weir/config-model';
import { hashDomain, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decision } from './decision.js';
import { Policy } from './policy.js';
import { asker, name, operation } from './testing/arbitraries.js';
import { client, KEY, profile } from './testing/fixtures.js';

const RULES = 30_000;
const NOW_MS = Date.UTC(2026, 2, 2, 10);

const change = (revision: number, operations: readonly Operation[]) => ({
  revision,
  digest: '',
  operations,
});

function apply(policy: Policy, operations: readonly Operation[]): void {
  policy.apply(change(policy.revision + 1, operations));
}

/** Rules of one profile, in several chunks of memory. */
function manyRules(profileId: number, count = RULES): Operation[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'put',
    kind: 'domainRule',
    entity: {
      profileId,
      domainHash: hashDomain(`${profileId}-${i}.example`, KEY),
      verdict: RuleVerdict.deny,
    },
  }));
}

/** How many chunks of all structures the policies have in common, and how many the first one has. */
function inCommon(one: Policy, other: Policy): [number, number] {
  const spaces = Object.keys(one.spaces) as (keyof Policy['spaces'])[];
  const all = spaces.flatMap((space) =>
    one.spaces[space].chunks.map((chunk, i) => chunk === other.spaces[space].chunks[i]),
  );
  return [all.filter(Boolean).length, all.length];
}

const operations = fc.array(operation, { minLength: 1, maxLength: 40 });
const questions = fc.record({
  askers: fc.array(asker, { minLength: 4, maxLength: 8 }),
  names: fc.uniqueArray(name, { minLength: 4, maxLength: 8 }),
});

describe('a fork of a policy', () => {
  it('and its origin are changed as if they had nothing in common', () => {
    const world = fc.record({
      before: fc.array(operation, { minLength: 20, maxLength: 80 }),
      ofFork: operations,
      ofOrigin: operations,
      after: operations,
      questions,
    });
    fc.assert(
      fc.property(world, ({ before, ofFork, ofOrigin, after, questions: { askers, names } }) => {
        const alone = (...changes: (readonly Operation[])[]): Policy => {
          const policy = new Policy({ timeZone: 'UTC' });
          for (const one of changes) apply(policy, one);
          return policy;
        };
        const expectSame = (one: Policy, other: Policy): void => {
          expect(one.digest()).toBe(other.digest());
          expect(one.counts()).toEqual(other.counts());
          const hashes = new SuffixHashes(KEY);
          const [out, expected] = [new Decision(), new Decision()];
          for (const { family, address, port } of askers) {
            for (const text of names) {
              hashes.compute(toWireName(text), 0);
              const of = client(family, address, port);
              one.decide(of, hashes, NOW_MS, out);
              other.decide(of, hashes, NOW_MS, expected);
              // The number of a slot is nobody's business.
              expected.activeSlot = out.activeSlot;
              expect(out).toEqual(expected);
            }
          }
          for (let id = 0; id < 4; id++) expect(one.blockPage(id)).toEqual(other.blockPage(id));
        };
        const origin = alone(before);
        const fork = origin.fork();
        const half = ofFork.length >>> 1;
        apply(fork, ofFork.slice(0, half));
        apply(origin, ofOrigin);
        apply(fork, ofFork.slice(half));
        expectSame(fork, alone(before, ofFork));
        expectSame(origin, alone(before, ofOrigin));
        fork.endFork();
        apply(fork, after);
        expectSame(fork, alone(before, ofFork, after));
        const second = fork.fork();
        apply(second, before);
        expectSame(second, alone(before, ofFork, after, before));
      }),
      { numRuns: 80 },
    );
  });

  it('has a copy of the chunks that it writes, and no others', () => {
    const origin = new Policy({ timeZone: 'UTC' });
    apply(
      origin,
      [profile(1), profile(2)].map((entity) => ({ type: 'put', kind: 'profile', entity })),
    );
    for (let id = 1; id < 9; id++) apply(origin, manyRules(id));
    const fork = origin.fork();
    const [common, all] = inCommon(fork, origin);
    expect(common).toBe(all);
    apply(fork, manyRules(9, 1));
    const [left] = inCommon(fork, origin);
    // Of the head, the records of profiles, the rules and what tells where there is room for more.
    expect(left).toBeLessThan(all);
    expect(left).toBeGreaterThanOrEqual(all - 4);
    fork.endFork();
    const chunks = [...fork.spaces.domainRules.chunks];
    apply(fork, manyRules(1, 100).map(toDelete));
    expect(fork.spaces.domainRules.chunks).toEqual(chunks);
  });

  it('takes as much memory as if the change had been applied to its origin', () => {
    const [one, origin] = [new Policy({ timeZone: 'UTC' }), new Policy({ timeZone: 'UTC' })];
    let policy = origin;
    for (let id = 1; id < 5; id++) {
      for (const operations of [manyRules(id), manyRules(id - 1).map(toDelete)]) {
        apply(one, operations);
        const fork = policy.fork();
        Array.from(fork.applyInSteps(change(fork.revision + 1, operations)));
        fork.endFork();
        policy = fork;
      }
    }
    expect(policy.memory()).toEqual(one.memory());
    expect(policy.digest()).toBe(one.digest());
  });

  it('cannot be made of a policy that has one', () => {
    const policy = new Policy({ timeZone: 'UTC' });
    const fork = policy.fork();
    expect(() => policy.fork()).toThrow('one fork at a time');
    expect(() => fork.fork()).toThrow('one fork at a time');
    policy.endFork();
    expect(policy.fork().revision).toBe(0);
  });

  it('leaves its origin as it is when a change cannot be applied to it', () => {
    const policy = new Policy({ timeZone: 'UTC' });
    apply(policy, manyRules(1, 10));
    const digest = policy.digest();
    const bad: Operation = {
      type: 'put',
      kind: 'ipv4Network',
      entity: { address: 1, prefixLength: 8, profileId: 1 },
    };
    const fork = policy.fork();
    const steps = fork.applyInSteps(change(2, [...manyRules(1, 20), bad]));
    expect(() => {
      while (steps.next().done !== true);
    }).toThrow('host bits');
    fork.endFork();
    expect(policy.revision).toBe(1);
    expect(policy.digest()).toBe(digest);
    apply(policy, manyRules(1, 20));
    expect(policy.counts().domainRule).toBe(20);
  });
});

function toDelete(operation: Operation): Operation {
  if (operation.type !== 'put') return operation;
  return { type: 'delete', kind: operation.kind, key: operation.entity } as Operation;
}
