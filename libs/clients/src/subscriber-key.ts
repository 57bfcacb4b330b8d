import {
  type Client,
  MatchedBy,
  type PolicySource,
  type QueryPolicy,
  SubscriberMatch,
} from '@weir/policy';

/**
 * Prefix lengths that a provider assigns to one subscriber (RFC 6177 §2). A shorter prefix is a pool of many
 * subscribers; there each /64 counts as one subscriber.
 */
const MIN_SITE_PREFIX = 48;
const LAN_BITS = 64;

/**
 * Identifies the subscriber of a client, for rate limits. Behind NAPT that is the range of ports, so that neighbours
 * with the same address do not share a limit. For IPv6 it is the network of the subscriber, /48 or longer, else the
 * /64. Otherwise it is the IPv4 address. Allocates nothing.
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
    private readonly source: PolicySource<QueryPolicy>,
    private readonly salt: number,
  ) {}

  /** What the last `identify` found. */
  get matchedBy(): MatchedBy {
    return this.match.by;
  }

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

/** The finaliser of MurmurHash3: each bit of the word changes half of the bits of the result. */
function mix(word: number): number {
  let hash = word | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
