import { type Client, MatchedBy, type PolicySource, SubscriberMatch } from '@weir/policy';

/**
 * The shortest prefixes that a provider assigns to one subscriber (RFC 6177 §2). A shorter prefix is a pool of many
 * subscribers; there each address counts as one subscriber, and each /56 of IPv6.
 */
const MIN_SITE_BITS = { 4: 24, 6: 48 } as const;
const HOME_BITS = 56;

/**
 * Identifies the subscriber of a client, for limits and shares (decisions §13). Behind NAPT that is the range of ports,
 * so that neighbours with the same address do not share a limit. Else it is the network with a profile, if it is /24 or
 * longer, /48 of IPv6. Otherwise it is the IPv4 address, or the /56 of IPv6. Allocates nothing.
 *
 * The key is a 64-bit hash under a secret, so a client cannot choose the key of another one.
 */
export class SubscriberKey {
  /** The key of the client of the last `identify`; signed. */
  first = 0;
  second = 0;
  private readonly match = new SubscriberMatch();

  /** @param salt 32 secret bits */
  constructor(
    private readonly source: PolicySource,
    private readonly salt: number,
  ) {}

  get matchedBy(): MatchedBy {
    return this.match.by;
  }

  /**
   * The range of ports of that client behind NAPT: the lower bound in the upper 16 bits, the upper one in the lower;
   * signed. 0: it has none. It is the same in all processes.
   */
  get portRange(): number {
    const { by, lowerPort, upperPort } = this.match;
    return by === MatchedBy.naptRange ? (lowerPort << 16) | upperPort : 0;
  }

  identify(client: Client): void {
    const { match } = this;
    const { policy } = this.source;
    if (policy === null) match.by = MatchedBy.nothing;
    else policy.match(client, match);
    this.first = this.salt;
    this.second = ~this.salt;
    const { family, words } = client;
    if (match.by === MatchedBy.naptRange) {
      this.add(words[0]);
      this.add(this.portRange);
      return;
    }
    const isSite = match.by === MatchedBy.network && match.prefixLength >= MIN_SITE_BITS[family];
    const ownBits = family === 4 ? 32 : HOME_BITS;
    this.addPrefix(words, family === 4 ? 1 : 4, isSite ? match.prefixLength : ownBits);
    // A network is not the same as an address or a /56 with the same bits.
    this.add(isSite ? 1 : 0);
  }

  private addPrefix(words: Uint32Array, wordCount: number, bits: number): void {
    for (let word = 0; word < wordCount; word++) {
      const left = bits - word * 32;
      const mask = left >= 32 ? -1 : left <= 0 ? 0 : -1 << (32 - left);
      this.add(words[word] & mask);
    }
    this.add(bits);
  }

  private add(word: number): void {
    this.first = mix(this.first ^ word);
    this.second = mix((this.second ^ word) + this.first);
  }
}

/** The finaliser of MurmurHash3: each bit of the word changes half of the bits of the result. */
function mix(word: number): number {
  let hash = word | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
