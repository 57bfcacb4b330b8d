import type { Client } from '@weir/policy';
import { RateTable } from './rate-table.js';

const SLOTS = 65_536;

export interface ClientLimitsOptions {
  /** Queries that one client gets answered in a second; 0: any number. */
  readonly queriesPerSecond: number;
  /** Errors (FORMERR, NOTIMP, BADVERS, REFUSED) that one client gets over UDP in a second; 0: any number. */
  readonly errorsPerSecond: number;
  /** 32 random bits. */
  readonly salt: number;
  /** Clock in whole seconds; it never goes back. */
  readonly nowSeconds: () => number;
}

/** What one client may do in a second, see `RateTable` for who is one. Allocates nothing. */
export class ClientLimits {
  private readonly queries: RateTable;
  private readonly errors: RateTable;

  constructor(private readonly options: ClientLimitsOptions) {
    this.queries = new RateTable(SLOTS, options.salt);
    this.errors = new RateTable(SLOTS, ~options.salt);
  }

  /** Counts a query. @returns whether it is one too many. */
  isOverQueries(client: Client): boolean {
    const { queriesPerSecond: most, nowSeconds } = this.options;
    return most > 0 && !this.queries.admits(client, nowSeconds() + 1, most);
  }

  /** Counts an error that is about to be sent. @returns whether it is one too many. */
  isOverErrors(client: Client): boolean {
    const { errorsPerSecond: most, nowSeconds } = this.options;
    return most > 0 && !this.errors.admits(client, nowSeconds() + 1, most);
  }
}
