import { answersQuestion, parseResponse, type Response } from '@weir/dns-wire';
import type { InFlight } from './in-flight.js';
import type { UpstreamTcp } from './upstream-tcp.js';

/** Maximum number of queries over TCP at once, to all upstreams together. */
const CAPACITY = 256;

/** Repeats queries over TCP when the answer over UDP was truncated, or may be forged. */
export class TcpFallback {
  private count = 0;

  /** @param response filled with each answer */
  constructor(private readonly response: Response) {}

  get isFull(): boolean {
    return this.count >= CAPACITY;
  }

  /**
   * Must not be full.
   * @param packet the query; copied before this returns
   * @param done called once, later, unless the question is completed by then. `isAnswer`: `response` is a complete
   * answer to it.
   */
  ask(
    entry: InFlight,
    link: UpstreamTcp,
    packet: Uint8Array,
    timeoutMs: number,
    done: (isAnswer: boolean) => void,
  ): void {
    const { generation } = entry;
    this.count++;
    link.ask(packet, timeoutMs, (message) => {
      this.count--;
      if (entry.generation === generation) done(message !== null && this.isAnswer(message, entry));
    });
  }

  private isAnswer(message: Uint8Array, { exchange }: InFlight): boolean {
    const { response } = this;
    if (!parseResponse(message, message.length, response) || response.isTruncated) return false;
    return answersQuestion(response, exchange.bytes, exchange.query);
  }
}
