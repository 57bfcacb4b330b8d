import { ClientAddress } from './client-address.js';

const WORDS = 4;

/** A short list of networks, searched linearly for every query. Allocates nothing. */
export class ClientNetworks {
  private readonly families: Uint8Array;
  /** Four words per network: of its address, and of its mask. */
  private readonly words: Uint32Array;
  private readonly masks: Uint32Array;

  /**
   * @param cidrs networks such as `192.0.2.0/24`; an address without a length is a network of one; host bits are
   * ignored
   * @throws RangeError for a text without an address. `CidrSet` validates what people write.
   */
  constructor(cidrs: readonly string[]) {
    this.families = new Uint8Array(cidrs.length);
    this.words = new Uint32Array(cidrs.length * WORDS);
    this.masks = new Uint32Array(cidrs.length * WORDS);
    const client = new ClientAddress();
    for (const [i, cidr] of cidrs.entries()) {
      const [address, length] = cidr.split('/');
      if (!client.set(address, 0)) throw new RangeError(`"${cidr}" is not a network`);
      // An IPv4-mapped network is an IPv4 network, 96 bits shorter.
      const isMapped = client.family === 4 && address.includes(':');
      const longest = client.family === 4 ? 32 : 128;
      const bits = length === undefined ? longest : Number(length) - (isMapped ? 96 : 0);
      this.families[i] = client.family;
      for (let word = 0; word < WORDS; word++) {
        const mask = maskOf(bits - word * 32);
        this.masks[i * WORDS + word] = mask;
        this.words[i * WORDS + word] = client.words[word] & mask;
      }
    }
  }

  has({ family, words }: ClientAddress): boolean {
    for (let i = 0; i < this.families.length; i++) {
      if (this.families[i] === family && this.matches(i * WORDS, words)) return true;
    }
    return false;
  }

  private matches(at: number, words: Uint32Array): boolean {
    for (let word = 0; word < WORDS; word++) {
      if (((words[word] ^ this.words[at + word]) & this.masks[at + word]) !== 0) return false;
    }
    return true;
  }
}

/** A word with the first `bits` bits set; all for 32 and more, none for 0 and less. */
function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? 0xffff_ffff : (-1 << (32 - bits)) >>> 0;
}
