import { type Operation, RuleVerdict } from '@weir/config-model';
import { hashDomain, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Client } from './client-address.js';
import { Decision } from './decision.js';
import { ChunkMemory } from './memory/chunk-memory.js';
import { Policy } from './policy.js';
import { type PolicyMessage, SharedPolicyWriter } from './sharing/shared-policy-writer.js';
import { SharedPolicy } from './sharing/shared-policy.js';
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

/** Chunks so small that the world below has several of rules and of networks. */
const CHUNK_WORDS = 2_048;
const BULK = 4_000;
const BULK_HASHES = Array.from({ length: BULK }, (_, i) => hashDomain(`bulk${i}.example`, KEY));
const bulkProfile = (i: number): number => 20 + (i % 3);
const bulkAddress = (i: number): number => (0x0a00_0000 + Math.imul(i, 0x9e37) * 16) >>> 0;
const BULK_NAMES = BULK_HASHES.map((_, i) => toWireName(`bulk${i}.example`));

/** A rule and a network each of many, spread over the chunks. */
function bulk(type: 'put' | 'delete', first: number, step: number): Operation[] {
  const some: Operation[] = [];
  for (let i = first; i < BULK; i += step) {
    const rule = { profileId: bulkProfile(i), domainHash: BULK_HASHES[i] };
    const network = { address: bulkAddress(i), prefixLength: 32, profileId: bulkProfile(i) };
    const entities = [
      ['domainRule', { ...rule, verdict: i % 2 === 0 ? RuleVerdict.allow : RuleVerdict.deny }],
      ['ipv4Network', network],
    ] as const;
    for (const [kind, entity] of entities) {
      some.push(
        (type === 'put' ? { type, kind, entity } : { type, kind, key: entity }) as Operation,
      );
    }
  }
  return some;
}

const bulkOperations = fc
  .tuple(fc.constantFrom('put', 'delete'), fc.nat(40), fc.constantFrom(1, 2, 7, 99, 400))
  .map(([type, first, step]) => bulk(type, first, step));
const operations = fc
  .tuple(fc.array(operation, { minLength: 1, maxLength: 40 }), bulkOperations)
  .map((parts) => parts.flat());
const questions = fc.record({
  askers: fc.array(asker, { minLength: 4, maxLength: 8 }),
  names: fc.uniqueArray(name, { minLength: 4, maxLength: 8 }),
  /** Which of the bulk are asked for. */
  step: fc.integer({ min: 1, max: 13 }),
});

type Questions = typeof questions extends fc.Arbitrary<infer T> ? T : never;

/** Writes what has been given away. */
function useSpareMemory(memory: ChunkMemory): void {
  apply(new Policy({ timeZone: 'UTC', chunkWords: CHUNK_WORDS, memory }), bulk('put', 1, 2));
}

/** What reads a policy: itself, or a reader in another thread. */
type Reading = Pick<Policy, 'decide'>;

/** The policy of all these changes, which never had anything in common with another one. */
function alone(...changes: (readonly Operation[])[]): Policy {
  const policy = new Policy({ timeZone: 'UTC' });
  for (const one of changes) apply(policy, one);
  return policy;
}

/** The same decisions for all clients and names, and for those of the bulk. */
function expectSameDecisions(
  one: Reading,
  other: Reading,
  { askers, names, step }: Questions,
): void {
  const hashes = new SuffixHashes(KEY);
  const [out, expected] = [new Decision(), new Decision()];
  const compare = (of: Client): void => {
    one.decide(of, hashes, NOW_MS, out);
    other.decide(of, hashes, NOW_MS, expected);
    // The number of a slot is nobody's business.
    expected.activeSlot = out.activeSlot;
    // A matcher for each decision would take longer than all the rest.
    if (!isDeepStrictEqual(out, expected)) expect(out).toEqual(expected);
  };
  for (const text of names) {
    hashes.compute(toWireName(text), 0);
    for (const { family, address, port } of askers) compare(client(family, address, port));
  }
  for (let i = 0; i < BULK; i += step * 7) {
    hashes.compute(BULK_NAMES[i], 0);
    compare(client(4, BigInt(bulkAddress(i))));
  }
}

describe('a fork of a policy', () => {
  it('and its origin are changed, shared and replaced as if they had nothing in common', () => {
    const memory = new ChunkMemory();
    const world = fc.record({
      before: fc.array(operation, { minLength: 20, maxLength: 80 }),
      ofFork: operations,
      ofOrigin: operations,
      after: operations,
      questions,
    });
    fc.assert(
      fc.property(world, ({ before: few, ofFork, ofOrigin, after, questions: asked }) => {
        const before = [...few, ...bulk('put', 0, 1)];
        const writer = new SharedPolicyWriter(1);
        const messages: PolicyMessage[] = [];
        const shared = new SharedPolicy(
          writer.connect(0, (message) => messages.push(message)),
          { receive: () => messages.shift(), openCatalogue: () => expect.fail('no catalogue') },
        );
        const expectSame = (one: Policy, other: Policy): void => {
          expect(one.digest()).toBe(other.digest());
          expect(one.counts()).toEqual(other.counts());
          expectSameDecisions(one, other, asked);
          for (let id = 0; id < 4; id++) expect(one.blockPage(id)).toEqual(other.blockPage(id));
        };
        const expectRead = (expected: Policy): void => {
          const reader = shared.enter();
          if (reader === null) throw new Error('there is no policy');
          expect(reader.revision).toBe(expected.revision);
          expectSameDecisions(reader, expected, asked);
          shared.leave();
        };

        const origin = new Policy({ timeZone: 'UTC', chunkWords: CHUNK_WORDS, memory });
        apply(origin, before);
        expect(origin.spaces.domainRules.chunks.length).toBeGreaterThan(2);
        expect(origin.spaces.ipv4Long.chunks.length).toBeGreaterThan(3);
        expect(writer.trySwap(origin, 1)).toBe(true);
        expectRead(alone(before));

        const fork = origin.fork();
        const half = ofFork.length >>> 1;
        apply(fork, ofFork.slice(0, half));
        expect(writer.tryChange(() => apply(origin, ofOrigin), 1)).toBe(true);
        apply(fork, ofFork.slice(half));
        useSpareMemory(memory);
        expectSame(fork, alone(before, ofFork.slice(0, half), ofFork.slice(half)));
        expectSame(origin, alone(before, ofOrigin));
        expectRead(alone(before, ofOrigin));

        expect(writer.trySwap(fork, 1)).toBe(true);
        origin.release(fork);
        fork.endFork();
        useSpareMemory(memory);
        const expected = alone(before, ofFork.slice(0, half), ofFork.slice(half));
        expectSame(fork, expected);
        expectRead(expected);

        apply(expected, after);
        expect(writer.tryChange(() => apply(fork, after), 1)).toBe(true);
        expectSame(fork, expected);
        expectRead(expected);
        const second = fork.fork();
        apply(second, before);
        apply(expected, before);
        expectSame(second, expected);
        expect(writer.trySwap(second, 1)).toBe(true);
        expectRead(expected);
      }),
      { numRuns: 12 },
    );
  });
});

describe('a fork of a policy', () => {
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
