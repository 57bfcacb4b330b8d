import { type Operation, RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Decision, Verdict } from './decision.js';
import { ChunkMemory } from './memory/chunk-memory.js';
import { Policy } from './policy.js';
import { ipv4Client, namesOf, profile, KEY } from './testing/fixtures.js';

const RULES = 40_000;
const hashes = Array.from({ length: RULES }, (_, i) => hashDomain(`r${i}.example`, KEY));
const [ORDERED, GRANTED] = ['ordered', 'granted'].map((name) => hashDomain(`${name}.example`, KEY));
const out = new Decision();

/** Denies the rules from `first` on. */
function buildIn(memory: ChunkMemory, first: number): Policy {
  const policy = new Policy({ timeZone: 'UTC', memory });
  policy.put({ type: 'put', kind: 'profile', entity: profile(1) });
  policy.load('ipv4Network', [[0xc000_0201, 32, 1]]);
  policy.load(
    'domainRule',
    hashes.slice(first).map((hash) => [1, hash, RuleVerdict.deny]),
  );
  policy.load('naptAssignment', [[0xc000_0202, 0, 1023, 1]]);
  const order = {
    id: 7,
    domainHash: ORDERED,
    authority: 'a court',
    reference: '1 O 2/26',
    until: null,
  };
  policy.put({ type: 'put', kind: 'order', entity: order });
  policy.load('grant', [[1, GRANTED, RuleVerdict.deny, 4_000_000_000]]);
  return policy;
}

function expectDenied(policy: Policy, first: number): void {
  for (let rule = 0; rule < RULES; rule += 89) {
    const verdict = policy.decide(ipv4Client(1), namesOf(`r${rule}.example`), 0, out);
    expect(verdict).toBe(rule >= first ? Verdict.block : Verdict.permit);
  }
  expect(policy.decide(ipv4Client(2, 99), namesOf('r0.example'), 0, out)).not.toBe(
    Verdict.unfiltered,
  );
  expect(policy.decide(ipv4Client(3), namesOf('r0.example'), 0, out)).toBe(Verdict.unfiltered);
  const granted = namesOf('granted.example');
  expect(policy.decide(ipv4Client(1), granted, 0, out)).toBe(Verdict.block);
  expect(policy.decide(ipv4Client(3), granted, 0, out)).toBe(Verdict.unfiltered);
  expect(policy.decide(ipv4Client(3), namesOf('ordered.example'), 0, out)).toBe(Verdict.block);
}

const bufferNumbers = new Map<ArrayBufferLike, number>();

/** Where the chunks of a policy are. */
function placesOf({ spaces }: Policy): Set<string> {
  const chunks = Object.values(spaces).flatMap((space) => space.chunks);
  const places = chunks.map(({ buffer, byteOffset }) => {
    const number = bufferNumbers.get(buffer) ?? bufferNumbers.size;
    bufferNumbers.set(buffer, number);
    return `${number}:${byteOffset}`;
  });
  return new Set(places.filter((_, i) => chunks[i].length > 0));
}

describe('a policy that was replaced', () => {
  const memory = new ChunkMemory();
  const build = (first: number): Policy => buildIn(memory, first);

  it('gives its memory to the next ones, which decide as if it were new', () => {
    const [old, inForce] = [build(0), build(10_000)];
    const digest = inForce.digest();
    const places = placesOf(old);
    old.release(inForce);
    const next = build(20_000);
    expect(placesOf(next).intersection(places).size).toBeGreaterThan(5);
    expectDenied(next, 20_000);
    expectDenied(inForce, 10_000);
    expect(inForce.digest()).toBe(digest);
    expect(placesOf(build(30_000)).intersection(placesOf(next)).size).toBe(0);
  });

  it('keeps nothing from its fork', () => {
    const origin = build(10_000);
    const fork = origin.fork();
    fork.load('domainRule', [[1, hashes[9_999], RuleVerdict.deny]]);
    origin.release(fork);
    fork.endFork();
    const digest = fork.digest();
    // In the chunks that the fork did not take over.
    expectDenied(build(20_000), 20_000);
    expectDenied(fork, 9_999);
    expect(fork.digest()).toBe(digest);
  });

  it('keeps no more than the policy in force takes', () => {
    for (let i = 0; i < 15; i++) build(0).release(build(RULES));
    expect(memory.spareBytes).toBeGreaterThan(0);
    expect(memory.spareBytes).toBeLessThanOrEqual(32 * 2 ** 20);
  });

  it('gives the memory of deleted rules back for others', () => {
    const policy = build(0);
    const before = placesOf(policy);
    const operations = hashes.map((domainHash): Operation => {
      return { type: 'delete', kind: 'domainRule', key: { profileId: 1, domainHash } };
    });
    policy.apply({ revision: 1, digest: '', operations });
    const left = placesOf(policy);
    expect(left.size).toBeLessThan(before.size);
    const reused = placesOf(build(0)).intersection(before);
    expect(reused.size).toBeGreaterThan(0);
    expect(reused.intersection(left).size).toBe(0);
  });

  it('throws an error when it is asked', () => {
    const old = build(0);
    old.release(build(1));
    expect(() => old.decide(ipv4Client(1), namesOf('r0.example'), 0, out)).toThrow(TypeError);
  });
});

describe('a policy that was replaced', () => {
  it('keeps its memory for the next one, whatever the garbage collector does', () => {
    const memory = new ChunkMemory();
    const [old, inForce] = [buildIn(memory, 0), buildIn(memory, 1)];
    const chunks = Object.values(old.spaces).flatMap((space) => space.chunks);
    const bytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
    old.release(inForce);
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    const before = memory.spareBytes;
    buildIn(memory, 0);
    expect(before - memory.spareBytes).toBe(bytes);
  });
});
