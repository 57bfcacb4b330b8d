import { NO_EXTENDED_ERROR, parseQuery, Rcode, writeEmptyAnswer } from '@weir/dns-wire';
import { DropReason, Exchange, type QueryHandler } from '../query/exchange.js';

/** Answers every query with NXDOMAIN, at once or when `release` is called. Records the clients. */
export class EchoHandler implements QueryHandler {
  readonly clients: { family: number; word: number; port: number }[] = [];
  readonly held: Exchange[] = [];
  isHolding = false;
  /** Called with each query. */
  onQuery: () => void = () => undefined;
  private readonly out = new Uint8Array(65535);

  /** @param padding minimum length of an answer in bytes */
  constructor(private readonly padding = 0) {}

  handle(exchange: Exchange): void {
    if (parseQuery(exchange.bytes, exchange.length, exchange.query) < 0) {
      exchange.replyPath.drop(DropReason.malformed);
      return;
    }
    const { family, words, port } = exchange.client;
    this.clients.push({ family, word: words[family === 4 ? 0 : 3], port });
    this.onQuery();
    if (!this.isHolding) {
      this.answer(exchange);
      return;
    }
    const copy = new Exchange();
    copy.copyFrom(exchange);
    this.held.push(copy);
  }

  /** Answers the held queries, last first. */
  release(): void {
    for (const exchange of this.held.splice(0).reverse()) this.answer(exchange);
  }

  private answer(exchange: Exchange): void {
    const { bytes, query } = exchange;
    const length = writeEmptyAnswer(this.out, bytes, query, Rcode.nxDomain, NO_EXTENDED_ERROR);
    exchange.replyPath.reply(exchange, this.out, Math.max(length, this.padding));
  }
}
