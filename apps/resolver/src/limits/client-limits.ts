import { RateTable, type SubscriberKey } from '@weir/clients';
import type { Client } from '@weir/policy';

const SLOTS = 65_536;
/** Of the errors over the limit, one in so many. */
const SLIP = 2;

export interface ClientLimitsOptions {
  /** Queries that one subscriber gets answered in a second; 0: any number. */
  readonly queriesPerSecond: number;
  /** Errors (FORMERR, NOTIMP, BADVERS, REFUSED) that one subscriber gets over UDP in a second; 0: any number. */
  readonly errorsPerSecond: number;
  /** Who is one subscriber. */
  readonly subscriber: SubscriberKey;
  /** Clock in whole seconds; it never goes back. */
  readonly nowSeconds: () => number;
}

/** What one subscriber may do in a second. Allocates nothing. */
export class ClientLimits {
  private readonly queries = new RateTable(SLOTS);
  private readonly errors = new RateTable(SLOTS);

  /** How often `allowsSlip` said so. */
  slips = 0;
  private untilSlip = SLIP;

  constructor(private readonly options: ClientLimitsOptions) {}

  /** Counts a query. @returns whether it is one too many. */
  exceedsQueryRate(client: Client): boolean {
    return this.exceeds(this.queries, client, this.options.queriesPerSecond);
  }

  /** Counts an error that is about to be sent. @returns whether it is one too many. */
  exceedsErrorRate(client: Client): boolean {
    return this.exceeds(this.errors, client, this.options.errorsPerSecond);
  }

  /** Whether an error that is one too many is to be answered with a hint how to get it; counts those that are. */
  allowsSlip(): boolean {
    if (--this.untilSlip > 0) return false;
    this.untilSlip = SLIP;
    this.slips++;
    return true;
  }

  private exceeds(table: RateTable, client: Client, limit: number): boolean {
    if (limit === 0) return false;
    const { subscriber, nowSeconds } = this.options;
    subscriber.identify(client);
    return !table.allows(subscriber.first, subscriber.second, nowSeconds() + 1, limit);
  }
}
