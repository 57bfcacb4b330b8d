import { type Client, MatchedBy, type PolicySource, SubscriberMatch } from '@weir/policy';

/**
 * Prefixes that a provider gives to one subscriber (RFC 6177 §2): a shorter one is a pool of many, in which whoever has one
 * address has its /64.
 */
const MIN_SITE_PREFIX = 48;
const LAN_BITS = 64;

/**
 * Who is one subscriber, for limits: behind NAPT his range of ports, so that a neighbour at the same address does not pay for him; with
 * IPv6 the network that is his, of /48 or longer, else the /64; else the IPv4 address. Allocates nothing.
 *
 * The key is a hash of 64 bits under a secret: nobody can choose whom he is taken for.
 */
export class SubscriberKey {
  /** The key of the client that `identify` was last called for; signed. */
  first = 0;
  second = 0;
  private readonly match = new SubscriberMatch();

  /** @param salt 32 bits that clients do not know */
  constructor(
    private readonly source: PolicySource,
    private readonly salt: number,
  ) {}

  identify(client: Client): void {
    const { match } = this;
    const { policy } = this.source;
    if (policy === null) match.by = MatchedBy.nothing;
    else policy.match(client, match);
    this.first = this.salt;
    this.second = ~this.salt;
    if (client.family === 6) {
      this.addPrefix(client.words, match.by === MatchedBy.nothing ? 0 : match.prefixLength);
    } else {
      this.add(client.words[0]);
      const isRange = match.by === MatchedBy.naptRange;
      this.add(isRange ? (match.lowerPort << 16) | match.upperPort : 0);
      this.add(isRange ? 1 : 0);
    }
  }

  private addPrefix(words: Uint32Array, prefixLength: number): void {
    const bits = prefixLength >= MIN_SITE_PREFIX ? prefixLength : LAN_BITS;
    for (let word = 0; word < 4; word++) {
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

/** The finaliser of MurmurHash3: each bit of the word changes half of the result's. */
function mix(word: number): number {
  let hash = word | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
