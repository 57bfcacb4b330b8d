import type { Query } from '@weir/dns-wire';
import type { Client } from '../client.js';

/** A query that is decided about. */
export interface AskedQuery {
  /** The message that `query` was parsed from. */
  readonly bytes: Uint8Array;
  readonly query: Query;
  readonly client: Client;
  /**
   * Keyed hash of the qname as two signed 32-bit words. Set by `PolicyLookup`. 0 for the root and for a class that is
   * refused.
   */
  nameHashLow: number;
  nameHashHigh: number;
}
