import { describe, expect, it } from 'vitest';
import { agedState, type FeedState, whatIsDegraded, whyNotReady } from './feed-state.js';

const behind = (inForceForMs: number) => ({
  revision: 1,
  hasCatalogue: true,
  isCaughtUp: false,
  inForceForMs,
});

describe('whyNotReady', () => {
  it('says what is missing', () => {
    expect(whyNotReady({ ...behind(0), revision: null }, 5_000)).toBe('no configuration yet');
    expect(whyNotReady({ ...behind(0), hasCatalogue: false }, 5_000)).toBe('no catalogue yet');
  });

  it('waits until the policy is the newest, at most for the grace period', () => {
    expect(whyNotReady(behind(4_999), 5_000)).toBe('catching up with the control plane');
    expect(whyNotReady(behind(5_000), 5_000)).toBeNull();
    expect(whyNotReady(behind(0), 0)).toBeNull();
    expect(whyNotReady({ ...behind(1), isCaughtUp: true }, 5_000)).toBeNull();
  });
});

describe('whatIsDegraded', () => {
  const fine = { revision: 7, lagMs: 14_999, isDiskCurrent: true, missingImage: null };

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

  it('reports an image that is missing for longer than a download takes', () => {
    const after = (forMs: number) => {
      const missingImage = { sha256: 'ab'.repeat(32), forMs };
      return whatIsDegraded({ ...fine, missingImage });
    };
    expect(after(4_999)).toEqual([]);
    expect(after(61_500)).toEqual([
      'the image of the active catalogue (abababababab) is missing for 61 s; the one before is in use',
    ]);
  });

  it('reports nothing before there is a configuration', () => {
    expect(
      whatIsDegraded({ ...fine, revision: null, lagMs: 60_000, isDiskCurrent: false }),
    ).toEqual([]);
  });
});

describe('agedState', () => {
  const missingImage = { sha256: 'ab'.repeat(32), forMs: 30 };
  const state = { revision: 7, lagMs: 10, inForceForMs: 20, missingImage } as FeedState;

  it('lets what lasts go on', () => {
    expect(agedState(state, 5)).toEqual({
      revision: 7,
      lagMs: 15,
      inForceForMs: 25,
      missingImage: { ...missingImage, forMs: 35 },
    });
  });

  it('does not let begin what has not begun', () => {
    const before = { ...state, revision: null, inForceForMs: 0, missingImage: null };
    expect(agedState(before, 5)).toEqual({ ...before, lagMs: 15 });
  });
});
