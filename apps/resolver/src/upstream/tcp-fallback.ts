import type { InFlight } from './in-flight.js';
import type { UpstreamTcp } from './upstream-tcp.js';

/** Many times the share of one subscriber, so that a few with silent names do not take everything. */
const DEFAULT_CAPACITY = 4096;

/** Repeats queries over TCP when the answer over UDP was truncated, or may be forged. */
export class TcpFallback {
  private count = 0;

  /** @param capacity maximum number of queries over TCP at once, to all upstreams together */
  constructor(private readonly capacity = DEFAULT_CAPACITY) {}

  get isFull(): boolean {
    return this.count >= this.capacity;
  }

  /**
   * Must not be full.
   * @param packet the query; copied before this returns
   * @param done called once, later, with the answer or null, unless the question is completed by then
   */
  ask(
    entry: InFlight,
    link: UpstreamTcp,
    packet: Uint8Array,
    timeoutMs: number,
    done: (message: Uint8Array | null) => void,
  ): void {
    const { generation } = entry;
    this.count++;
    link.ask(packet, timeoutMs, (message) => {
      this.count--;
      if (entry.generation === generation) done(message);
    });
  }
}
