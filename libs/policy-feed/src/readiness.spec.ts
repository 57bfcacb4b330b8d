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

describe('whatIsDegraded', () => {
  const fine = { revision: 7, lagMs: 14_999, isDiskCurrent: true };

  it('reports a configuration that may be old', () => {
    expect(whatIsDegraded(fine)).toEqual([]);
    expect(whatIsDegraded({ ...fine, lagMs: 61_500 })).toEqual([
      'revision 7 is in force; for 61 s nothing told whether it is the newest',
    ]);
  });

  it('reports a configuration that is not on disk', () => {
    expect(whatIsDegraded({ ...fine, isDiskCurrent: false })).toEqual([
      'the configuration in force is not on disk: the disk fails, or does not answer',
    ]);
  });

  it('reports nothing before there is a configuration', () => {
    expect(whatIsDegraded({ revision: null, lagMs: 60_000, isDiskCurrent: false })).toEqual([]);
  });
});
