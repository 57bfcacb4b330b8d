import type { HashKey } from './hash-key.js';

/** Words of SipHash's state: v0 … v3, each 64 bits as two 32-bit words, low word first. */
export const SIP_STATE_WORDS = 8;

/**
 * The state at the start of a hash under `key`.
 * Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012), §2.1.
 */
export function startOfSip({ words: [k0Low, k0High, k1Low, k1High] }: HashKey): Int32Array {
  return Int32Array.of(
    k0Low ^ 0x70736575,
    k0High ^ 0x736f6d65,
    k1Low ^ 0x6e646f6d,
    k1High ^ 0x646f7261,
    k0Low ^ 0x6e657261,
    k0High ^ 0x6c796765,
    k1Low ^ 0x79746573,
    k1High ^ 0x74656462,
  );
}
