import type { Client } from '@weir/policy';

/** Slots that one client may be in. */
const WAYS = 4;
const WORDS = 4;
/** Offsets of the words of a slot: the client, two words, then the second and the queries in it. */
const SECOND = 2;
const COUNT = 3;

/**
 * Counts what each client does in each second, in fixed memory. A client is an IPv4 address or an IPv6 /64: who has one IPv6 address has
 * 2^64. When more clients come in a second than fit, those of earlier seconds are forgotten, then anyone, so the table may let
 * too much pass, and is never wrong the other way.
 */
export class RateTable {
  private readonly slots: Int32Array;
  private readonly mask: number;

  /**
   * @param slotCount a power of two, 4 or more
   * @param salt 32 bits that clients do not know: they must not choose whom they share slots with
   */
  constructor(
    slotCount: number,
    private readonly salt: number,
  ) {
    this.slots = new Int32Array(slotCount * WORDS);
    this.mask = slotCount - WAYS;
  }

  /** Counts one more. @returns whether the client has done at most `most` in this second. Seconds are whole and above 0. */
  admits(client: Client, nowSeconds: number, most: number): boolean {
    const { slots } = this;
    const first = client.family === 6 ? client.words[0] | 0 : -1;
    const second = client.family === 6 ? client.words[1] | 0 : client.words[0] | 0;
    const at = this.slotOf(first, second, nowSeconds);
    if (slots[at] !== first || slots[at + 1] !== second || slots[at + SECOND] !== nowSeconds) {
      slots[at] = first;
      slots[at + 1] = second;
      slots[at + SECOND] = nowSeconds;
      slots[at + COUNT] = 0;
    }
    if (slots[at + COUNT] >= most) return false;
    slots[at + COUNT]++;
    return true;
  }

  /** The client's slot; else one of an earlier second; else the one that has counted least. */
  private slotOf(first: number, second: number, nowSeconds: number): number {
    const { slots } = this;
    const start = (mix(first, second, this.salt) & this.mask) * WORDS;
    let best = start;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (slots[at] === first && slots[at + 1] === second) return at;
      if (slots[best + SECOND] !== nowSeconds) continue;
      if (slots[at + SECOND] !== nowSeconds || slots[at + COUNT] < slots[best + COUNT]) best = at;
    }
    return best;
  }
}

/** 32 well-mixed bits of three words (the finaliser of MurmurHash3 for each). */
function mix(first: number, second: number, salt: number): number {
  let hash = salt;
  hash = scramble(hash ^ first);
  return scramble(hash ^ second ^ salt);
}

function scramble(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
