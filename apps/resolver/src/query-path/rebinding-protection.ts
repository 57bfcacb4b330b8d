import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import {
  HEADER_BYTES,
  hasPrivateAddresses,
  PrivateAddressRemoval,
  type Response,
} from '@weir/dns-wire';
import { type Decision, Verdict } from '@weir/policy';
import type { CachedAnswer } from '../cache/entry-codec.js';
import type { Exchange } from '../query/exchange.js';

export interface RebindingProtectionOptions {
  /** False: every response passes. */
  readonly isEnabled: boolean;
  /** Names in these zones may have private addresses. */
  readonly allowedZones: readonly string[];
  readonly hashKey: HashKey;
}

/**
 * Takes private addresses out of the responses of upstreams to clients with a profile. By such an answer a website
 * becomes one site with a device in the network of its visitor, which its scripts may then use (DNS rebinding).
 * Allocates nothing.
 */
export class RebindingProtection {
  private readonly allowed: SuffixTable<true>;
  private readonly hashes: SuffixHashes;
  private readonly removal = new PrivateAddressRemoval();

  constructor(private readonly options: RebindingProtectionOptions) {
    const { allowedZones, hashKey } = options;
    this.hashes = new SuffixHashes(hashKey);
    this.allowed = new SuffixTable(allowedZones.length);
    for (const zone of allowedZones) {
      const labels = this.hashes.compute(toWireName(zone), 0);
      this.allowed.set(this.hashes, labels - 1, true);
    }
  }

  /**
   * @param decision about the query
   * @param cached the response with what the cache knows of it, if it comes from there
   * @returns what the client gets of it: all, or a copy without private addresses, valid until the next call; null:
   *   NODATA
   */
  filter(
    exchange: Exchange,
    decision: Decision,
    response: Response,
    cached: CachedAnswer | null,
  ): Response | null {
    if (!this.options.isEnabled || decision.verdict === Verdict.unfiltered) return response;
    const isPrivate = cached === null ? hasPrivateAddresses(response) : cached.hasPrivateAddresses;
    if (!isPrivate || this.isAllowed(exchange)) return response;
    return this.removal.remove(response, exchange.query.qtype);
  }

  /**
   * The name that was asked decides, which is that of the site. A target does not: whoever owns the name chooses it.
   */
  private isAllowed({ bytes }: Exchange): boolean {
    const { hashes, allowed } = this;
    hashes.compute(bytes, HEADER_BYTES);
    for (let i = 0; i < hashes.count; i++) {
      if (allowed.get(hashes, i) !== undefined) return true;
    }
    return false;
  }
}
