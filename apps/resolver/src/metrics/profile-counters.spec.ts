import { Reason, Verdict } from '@weir/policy';
import { describe, expect, it } from 'vitest';
import { ProfileCounters, ProfileRows } from './profile-counters.js';

describe('ProfileCounters', () => {
  it('counts by profile, verdict and reason', () => {
    const counters = new ProfileCounters(new ProfileRows(2));
    counters.answered(7, Verdict.block, Reason.category);
    counters.answered(7, Verdict.block, Reason.category);
    counters.answered(7, Verdict.permit, Reason.none);
    counters.answered(0, Verdict.permit, Reason.domainRule);
    counters.answered(-1, Verdict.unfiltered, Reason.noProfile);
    expect([...counters.values()]).toEqual([
      [{ profile: 'none', verdict: 'unfiltered', reason: 'no_profile' }, 1],
      [{ profile: '7', verdict: 'permit', reason: 'none' }, 1],
      [{ profile: '7', verdict: 'block', reason: 'category' }, 2],
      [{ profile: '0', verdict: 'permit', reason: 'domain_rule' }, 1],
    ]);
  });

  it('counts the profiles after the first ones together', () => {
    const counters = new ProfileCounters(new ProfileRows(2));
    for (let id = 1; id <= 1000; id++) counters.answered(id, Verdict.permit, Reason.none);
    counters.answered(2_147_483_647, Verdict.block, Reason.none);
    counters.answered(1, Verdict.permit, Reason.none);
    expect([...counters.values()]).toEqual([
      [{ profile: 'other', verdict: 'permit', reason: 'none' }, 998],
      [{ profile: 'other', verdict: 'block', reason: 'none' }, 1],
      [{ profile: '1', verdict: 'permit', reason: 'none' }, 2],
      [{ profile: '2', verdict: 'permit', reason: 'none' }, 1],
    ]);
  });
});
