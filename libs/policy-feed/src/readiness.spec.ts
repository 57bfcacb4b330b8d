import { describe, expect, it } from 'vitest';
import { whatIsDegraded, whyNotReady } from './readiness.js';
import { policyOf, profile, put } from './testing/policies.js';

const catalogue = put('catalogue', { version: 1, sha256: 'ab'.repeat(32), sizeBytes: 100 });
const policy = policyOf(profile(1), catalogue);
const behind = (inForceForMs: number) => ({ isCaughtUp: false, inForceForMs });

describe('whyNotReady', () => {
  it('says what is missing', () => {
    expect(whyNotReady(null, behind(0), 5_000)).toBe('no configuration yet');
    expect(whyNotReady(policyOf(profile(1)), behind(0), 5_000)).toBe('no catalogue yet');
  });

  it('waits until the policy is the newest, at most for the grace period', () => {
    expect(whyNotReady(policy, behind(4_999), 5_000)).toBe('catching up with the control plane');
    expect(whyNotReady(policy, behind(5_000), 5_000)).toBeNull();
    expect(whyNotReady(policy, behind(0), 0)).toBeNull();
    expect(whyNotReady(policy, { isCaughtUp: true, inForceForMs: 1 }, 5_000)).toBeNull();
  });
});

it('whatIsDegraded reports a configuration that may be old', () => {
  expect(whatIsDegraded({ revision: null, lagMs: 60_000 })).toEqual([]);
  expect(whatIsDegraded({ revision: 7, lagMs: 14_999 })).toEqual([]);
  expect(whatIsDegraded({ revision: 7, lagMs: 61_500 })).toEqual([
    'revision 7 is in force; for 61 s nothing told whether it is the newest',
  ]);
});
