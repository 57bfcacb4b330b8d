import type { HashKey } from './hash-key.js';
import { SIP_STATE_WORDS, startOfSip } from './sip-state.js';

/** Words of v0 … v3 in a state, the low one; the high one follows. */
const [V0, V1, V2, V3] = [0, 2, 4, 6];

/**
 * SipHash-2-4 of whatever bytes under one key, in pairs of 32-bit words. For a message now and then: names have
 * `SuffixHashes`, which is several times as fast. Allocates nothing.
 * Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012), §2.
 */
export class SipHash {
  /** Halves of the last hash, signed. */
  low = 0;
  high = 0;
  private readonly start: Int32Array;
  private readonly state = new Int32Array(SIP_STATE_WORDS);

  constructor(key: HashKey) {
    this.start = startOfSip(key);
  }

  /** Hashes the first `length` bytes, at most 255. */
  hash(bytes: Uint8Array, length: number): void {
    const { state } = this;
    state.set(this.start);
    const whole = length & ~7;
    for (let at = 0; at < whole; at += 8) {
      absorb(state, wordAt(bytes, at, length), wordAt(bytes, at + 4, length));
    }
    // The last word ends with the length of the message.
    absorb(state, wordAt(bytes, whole, length), wordAt(bytes, whole + 4, length) | (length << 24));
    state[V2] ^= 0xff;
    for (let i = 0; i < 4; i++) round(state);
    this.low = state[V0] ^ state[V1] ^ state[V2] ^ state[V3];
    this.high = state[V0 + 1] ^ state[V1 + 1] ^ state[V2 + 1] ^ state[V3 + 1];
  }
}

/** Four bytes, little-endian; those behind the end are 0. */
function wordAt(bytes: Uint8Array, offset: number, length: number): number {
  let word = 0;
  const end = Math.min(offset + 4, length);
  for (let at = offset; at < end; at++) word |= bytes[at] << ((at - offset) * 8);
  return word;
}

function absorb(state: Int32Array, low: number, high: number): void {
  state[V3] ^= low;
  state[V3 + 1] ^= high;
  round(state);
  round(state);
  state[V0] ^= low;
  state[V0 + 1] ^= high;
}

function round(state: Int32Array): void {
  mix(state, V0, V1, 13);
  swapHalves(state, V0);
  mix(state, V2, V3, 16);
  mix(state, V0, V3, 21);
  mix(state, V2, V1, 17);
  swapHalves(state, V2);
}

/** `a` += `b`; `b` = (`b` rotated left) ^ `a`. */
function mix(state: Int32Array, a: number, b: number, by: number): void {
  const low = state[b];
  const high = state[b + 1];
  const sum = (state[a] >>> 0) + (low >>> 0);
  state[a] = sum;
  state[a + 1] = state[a + 1] + high + (sum > 0xffff_ffff ? 1 : 0);
  state[b] = ((low << by) | (high >>> (32 - by))) ^ state[a];
  state[b + 1] = ((high << by) | (low >>> (32 - by))) ^ state[a + 1];
}

/** Rotates by 32 bits. */
function swapHalves(state: Int32Array, v: number): void {
  const low = state[v];
  state[v] = state[v + 1];
  state[v + 1] = low;
}
