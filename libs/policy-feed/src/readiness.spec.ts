import { CatalogueImage, compileCatalogue } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { describe, expect, it } from 'vitest';
import { whatIsDegraded, whyNotReady } from './readiness.js';
import { HASH_KEY_HEX, policyOf, profile, put } from './testing/policies.js';

const key = parseHashKey(HASH_KEY_HEX);
const { image } = compileCatalogue({ categories: [], applications: [] }, key);
const policy = policyOf(profile(1));
policy.setCatalogue(CatalogueImage.open(image, key));
const behind = (inForceForMs: number) => ({ revision: 1, isCaughtUp: false, inForceForMs });
const named = put('catalogue', { version: 1, sha256: 'ab'.repeat(32), sizeBytes: 100 });

describe('whyNotReady', () => {
  it('says what is missing', () => {
    expect(whyNotReady(null, { ...behind(0), revision: null }, 5_000)).toBe('no configuration yet');
    expect(whyNotReady(policyOf(profile(1)), behind(0), 5_000)).toBe('no catalogue yet');
    // The catalogue is named, but its image is not there.
    expect(whyNotReady(policyOf(profile(1), named), behind(0), 5_000)).toBe('no catalogue yet');
    expect(whyNotReady(null, behind(0), 5_000)).toBe('no catalogue yet');
  });

  it('waits until the policy is the newest, at most for the grace period', () => {
    expect(whyNotReady(policy, behind(4_999), 5_000)).toBe('catching up with the control plane');
    expect(whyNotReady(policy, behind(5_000), 5_000)).toBeNull();
    expect(whyNotReady(policy, behind(0), 0)).toBeNull();
    expect(whyNotReady(policy, { ...behind(1), isCaughtUp: true }, 5_000)).toBeNull();
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
