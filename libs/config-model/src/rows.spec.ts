import { describe, expect, it } from 'vitest';
import { ALL_PROFILE_FLAGS, decodeProfileFlags, encodeProfileFlags, ProfileFlag } from './rows.js';

describe('the flags of a profile', () => {
  it('have one bit each', () => {
    const bits = Object.values(ProfileFlag);
    expect(new Set(bits).size).toBe(bits.length);
    for (const bit of bits) expect(bit & (bit - 1)).toBe(0);
  });

  it('are the same after encoding and decoding, in every combination', () => {
    for (let flags = 0; flags <= ALL_PROFILE_FLAGS; flags++) {
      expect(encodeProfileFlags(decodeProfileFlags(flags))).toBe(flags);
    }
  });
});
