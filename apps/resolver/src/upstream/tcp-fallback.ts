import {
  answersQuestion,
  MAX_UPSTREAM_QUERY_BYTES,
  parseResponse,
  type Response,
  writeUpstreamQuery,
} from '@weir/dns-wire';
import type { InFlight } from './in-flight.js';
import type { UpstreamTcp } from './upstream-tcp.js';

/** Most questions that are asked over TCP at once, at all upstreams together. */
const CAPACITY = 256;

/** Questions that are asked again over TCP because the answer over UDP was truncated. */
export class TcpFallback {
  private count = 0;

  /** @param response filled with each answer */
  constructor(private readonly response: Response) {}

  /**
   * @param done called once, later, unless the entry has its outcome by then: with whether `response` is a whole answer to its question
   * @returns false when too many are asked at once
   */
  ask(
    entry: InFlight,
    link: UpstreamTcp,
    timeoutMs: number,
    done: (isAnswer: boolean) => void,
  ): boolean {
    if (this.count >= CAPACITY) return false;
    const { generation, exchange } = entry;
    const packet = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
    const length = writeUpstreamQuery(packet, exchange.bytes, exchange.query, 0);
    this.count++;
    link.ask(packet.subarray(0, length), timeoutMs, (message) => {
      this.count--;
      if (entry.generation === generation) done(message !== null && this.isAnswer(message, entry));
    });
    return true;
  }

  private isAnswer(message: Uint8Array, { exchange }: InFlight): boolean {
    const { response } = this;
    if (!parseResponse(message, message.length, response) || response.isTruncated) return false;
    return answersQuestion(response, exchange.bytes, exchange.query);
  }
}
