import { type Operation, RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Decision, Verdict } from './decision.js';
import { spareBytes } from './memory/spare-buffers.js';
import { Policy } from './policy.js';
import { ipv4Client, namesOf, profile, KEY } from './testing/fixtures.js';

const RULES = 40_000;
const hashes = Array.from({ length: RULES }, (_, i) => hashDomain(`r${i}.example`, KEY));
const out = new Decision();

/** Denies the rules from `first` on. */
function build(first: number): Policy {
  const policy = new Policy({ timeZone: 'UTC' });
  policy.put({ type: 'put', kind: 'profile', entity: profile(1) });
  policy.load('ipv4Network', [[0xc000_0201, 32, 1]]);
  policy.load(
    'domainRule',
    hashes.slice(first).map((hash) => [1, hash, RuleVerdict.deny]),
  );
  policy.load('naptAssignment', [[0xc000_0202, 0, 1023, 1]]);
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
}

function buffersOf({ spaces }: Policy): Set<unknown> {
  const all = Object.values(spaces).flatMap(({ chunks }) => chunks.map(({ buffer }) => buffer));
  return new Set(all.filter(({ byteLength }) => byteLength > 0));
}

describe('a policy that was replaced', () => {
  it('gives its memory to the next ones, which decide as if it were new', () => {
    const [old, inForce] = [build(0), build(10_000)];
    const digest = inForce.digest();
    const buffers = buffersOf(old);
    old.giveWayTo(inForce);
    const next = build(20_000);
    expect(buffersOf(next).intersection(buffers).size).toBeGreaterThan(5);
    expectDenied(next, 20_000);
    expectDenied(inForce, 10_000);
    expect(inForce.digest()).toBe(digest);
    expect(buffersOf(build(30_000)).intersection(buffersOf(next)).size).toBe(0);
  });

  it('keeps nothing from its fork', () => {
    const origin = build(10_000);
    const fork = origin.fork();
    fork.load('domainRule', [[1, hashes[9_999], RuleVerdict.deny]]);
    origin.giveWayTo(fork);
    fork.endFork();
    const digest = fork.digest();
    // In the chunks that the fork did not take over.
    expectDenied(build(20_000), 20_000);
    expectDenied(fork, 9_999);
    expect(fork.digest()).toBe(digest);
  });

  it('keeps its memory for the next one, whatever the garbage collector does', () => {
    const [old, inForce] = [build(0), build(1)];
    const lengths = Array.from(buffersOf(old) as Set<SharedArrayBuffer>, (one) => one.byteLength);
    old.giveWayTo(inForce);
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    const before = spareBytes();
    build(0);
    expect(before - spareBytes()).toBe(lengths.reduce((sum, one) => sum + one, 0));
  });

  it('keeps no more than the policy in force takes', () => {
    for (let i = 0; i < 15; i++) build(0).giveWayTo(build(RULES));
    expect(spareBytes()).toBeGreaterThan(0);
    expect(spareBytes()).toBeLessThanOrEqual(32 * 2 ** 20);
  });

  it('gives the memory of deleted rules back for others', () => {
    const policy = build(0);
    const rules = policy.spaces.domainRules.chunks.map(({ buffer }) => buffer);
    const operations = hashes.map((domainHash): Operation => {
      return { type: 'delete', kind: 'domainRule', key: { profileId: 1, domainHash } };
    });
    policy.apply({ revision: 1, digest: '', operations });
    const reused = buffersOf(build(0));
    expect(rules.filter((buffer) => reused.has(buffer)).length).toBeGreaterThan(0);
  });

  it('throws an error when it is asked', () => {
    const old = build(0);
    old.giveWayTo(build(1));
    expect(() => old.decide(ipv4Client(1), namesOf('r0.example'), 0, out)).toThrow(TypeError);
  });
});
