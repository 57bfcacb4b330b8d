import type { Exchange } from './exchange.js';

/** Who takes the queries that listeners have read. */
export interface QueryHandler {
  /** Takes the query in `exchange.bytes`; the answer goes its `replyPath`, now or later. Keeps nothing of the exchange. */
  handle(exchange: Exchange): void;
}
