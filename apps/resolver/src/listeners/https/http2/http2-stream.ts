import type { QueryCounters } from '../../../metrics/query-counters.js';
import { DohReply, answerHeaders, errorHeaders, RequestBody } from '../doh.js';

export type SendAnswer = (
  stream: Http2Stream,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) => void;

const EMPTY: Buffer = Buffer.alloc(0);

export class Http2Stream extends DohReply {
  /** The client has sent all of its request. */
  isComplete = false;
  /** The query was in the URI. A body means nothing. */
  isAsked = false;
  isClosed = false;
  /** HTTP status of a request that is refused when its body comes. 0: it is not refused. */
  refusal = 0;
  /** Of the body, as the client has announced it. −1: it has not. */
  contentLength = -1;
  readonly body = new RequestBody();
  /** What of the answer had no room in the windows. */
  unsent = EMPTY;
  /** Bytes of memory that this request holds. */
  held = 0;
  deadline: NodeJS.Timeout | undefined;

  /**
   * @param window what may be sent
   * @param send answers this request, once
   */
  constructor(
    readonly id: number,
    public window: number,
    counters: QueryCounters,
    private readonly send: SendAnswer,
  ) {
    super(counters);
  }

  fail(status: number): void {
    this.send(this, status, errorHeaders(status), EMPTY);
  }

  protected respond(answer: Uint8Array, maxAgeSeconds: number): void {
    this.send(this, 200, answerHeaders(answer.length, maxAgeSeconds), answer);
  }
}
