import type { QueryCounters } from '../../../metrics/query-counters.js';
import { DohReply, answerHeaders, errorHeaders, MAX_QUERY_BYTES } from '../doh.js';

/** Room for a body that comes in pieces. A larger one gets twice the room, again and again. */
const FIRST_BODY_BYTES = 512;
const EMPTY: Buffer = Buffer.alloc(0);

/** One request and the way back for its answer. */
export class Http2Stream extends DohReply {
  /** The client has sent all of its request. */
  isComplete = false;
  /** The query was in the URI. A body means nothing. */
  isAsked = false;
  isClosed = false;
  /** Of the body, as the client has announced it. −1: it has not. */
  contentLength = -1;
  bodyBytes = 0;
  /** What of the answer had no room in the windows. */
  unsent = EMPTY;
  /** Bytes of memory that this request holds. */
  held = 0;
  deadline: NodeJS.Timeout | undefined;
  private room = EMPTY;

  /**
   * @param window what may be sent
   * @param send answers this request, once
   */
  constructor(
    readonly id: number,
    public window: number,
    counters: QueryCounters,
    private readonly send: (
      stream: Http2Stream,
      status: number,
      headers: Readonly<Record<string, string>>,
      body: Uint8Array,
    ) => void,
  ) {
    super(counters);
  }

  get body(): Buffer {
    return this.room.subarray(0, this.bodyBytes);
  }

  /** Adds a copy to the body, which has at most `MAX_QUERY_BYTES`. @returns the bytes of memory that this took */
  append(bytes: Buffer): number {
    const { room, bodyBytes } = this;
    const length = bodyBytes + bytes.length;
    let taken = 0;
    if (length > room.length) {
      const size = Math.min(MAX_QUERY_BYTES, Math.max(FIRST_BODY_BYTES, 2 * room.length, length));
      // Not of the pool, of which it would hold a whole slab.
      this.room = Buffer.allocUnsafeSlow(size);
      room.copy(this.room, 0, 0, bodyBytes);
      taken = size - room.length;
    }
    bytes.copy(this.room, bodyBytes);
    this.bodyBytes = length;
    return taken;
  }

  fail(status: number): void {
    this.send(this, status, errorHeaders(status), EMPTY);
  }

  protected respond(answer: Uint8Array, maxAgeSeconds: number): void {
    this.send(this, 200, answerHeaders(answer.length, maxAgeSeconds), answer);
  }
}
