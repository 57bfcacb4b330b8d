import {
  answersQuestion,
  MAX_UPSTREAM_QUERY_BYTES,
  parseResponse,
  removeEdns,
  type Response,
  writeUpstreamQuery,
} from '@weir/dns-wire';
import type { InFlight } from './in-flight.js';
import type { UpstreamTcp } from './upstream-tcp.js';

/** Maximum number of queries over TCP at once, to all upstreams together. */
const CAPACITY = 256;

/** Repeats queries over TCP when the answer over UDP was truncated. */
export class TcpFallback {
  private count = 0;

  /** @param response filled with each answer */
  constructor(private readonly response: Response) {}

  /**
   * @param hasEdns whether the upstream is asked with EDNS
   * @param done called once, later, unless the question is completed by then. `isAnswer`: `response` is a complete
   * answer to it.
   * @returns false when too many queries are open
   */
  ask(
    entry: InFlight,
    link: UpstreamTcp,
    timeoutMs: number,
    hasEdns: boolean,
    done: (isAnswer: boolean) => void,
  ): boolean {
    if (this.count >= CAPACITY) return false;
    const { generation, question } = entry;
    const packet = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
    const fullLength = writeUpstreamQuery(packet, entry.packet, question.query, 0);
    const length = hasEdns ? fullLength : removeEdns(packet, fullLength);
    this.count++;
    link.ask(packet.subarray(0, length), timeoutMs, (message) => {
      this.count--;
      if (entry.generation === generation) done(message !== null && this.isAnswer(message, entry));
    });
    return true;
  }

  private isAnswer(message: Uint8Array, { question }: InFlight): boolean {
    const { response } = this;
    if (!parseResponse(message, message.length, response) || response.isTruncated) return false;
    return answersQuestion(response, question.bytes, question.query);
  }
}
