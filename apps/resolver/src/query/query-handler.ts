import type { Exchange } from './exchange.js';

/** Handles the queries that listeners have read. */
export interface QueryHandler {
  /**
   * Handles the query in `exchange.bytes`. The answer goes to its `replyPath`, now or later. The exchange may be reused
   * as soon as this returns.
   */
  handle(exchange: Exchange): void;
}
