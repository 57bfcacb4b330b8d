import { FEED_VERSION, FEED_VERSION_HEADER } from '../protocol/feed-version.js';
import { FeedError, IdleTimeoutError, StatusError, VersionError } from './feed-error.js';

const NOT_ACCEPTABLE = 406;

export interface FeedRequest {
  readonly path: string;
  /** For messages: what is asked for. */
  readonly what: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Start of the range that `headers` ask for; 0: all of it. */
  readonly offsetBytes?: number;
  /** Aborts the request; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer with what was asked for. */
export interface FeedResponse {
  /** 200: all of it; 206: what begins at the offset. */
  readonly status: number;
  readonly headers: Headers;
  /** Read it, or cancel the response. @throws FeedError */
  readonly body: AsyncGenerator<Uint8Array>;
  cancel(): Promise<void>;
}

/** What is used of `fetch`; another one may check the server's certificate in its own way. */
export type FeedFetch = (
  url: URL,
  init: {
    readonly headers: Record<string, string>;
    readonly redirect: 'error';
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** Sends requests to the feed API. */
export class FeedRequests {
  private readonly closing = new AbortController();

  /** @param idleTimeoutMs longest time without a byte, before a response or within it. */
  constructor(
    private readonly feedUrl: string,
    private readonly feedToken: () => string,
    private readonly idleTimeoutMs: number,
    private readonly fetch: FeedFetch,
  ) {}

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Aborts all requests, those of later calls too. */
  close(): void {
    this.closing.abort(new FeedError('the feed client was closed'));
  }

  /** @throws FeedError */
  async open(request: FeedRequest): Promise<FeedResponse> {
    const { what, signal: callerSignal, offsetBytes = 0 } = request;
    const idleTimeout = new AbortController();
    const startTimer = (): NodeJS.Timeout =>
      setTimeout(() => idleTimeout.abort(new IdleTimeoutError(what)), this.idleTimeoutMs);
    const signals = [idleTimeout.signal, this.closed, ...(callerSignal ? [callerSignal] : [])];
    const timer = startTimer();
    let response: Response;
    try {
      response = await this.get(request, AbortSignal.any(signals));
    } finally {
      clearTimeout(timer);
    }
    const { status, headers } = response;
    const problem = problemOf(response, what, offsetBytes);
    const cancel = async (): Promise<void> => {
      await response.body?.cancel().catch(() => undefined);
    };
    if (problem === null) {
      return { status, headers, body: readBody(response, what, startTimer), cancel };
    }
    await cancel();
    throw problem;
  }

  private async get({ path, headers }: FeedRequest, signal: AbortSignal): Promise<Response> {
    try {
      const { fetch: send } = this;
      return await send(new URL(path, this.feedUrl), {
        headers: {
          ...headers,
          Authorization: `Bearer ${this.feedToken()}`,
          [FEED_VERSION_HEADER]: String(FEED_VERSION),
        },
        redirect: 'error',
        signal,
      });
    } catch (error) {
      if (error instanceof FeedError) throw error;
      const cause = (error as Error).cause ?? error;
      throw new FeedError(`the feed API does not answer: ${String(cause)}`, { cause: error });
    }
  }
}

async function* readBody(
  response: Response,
  what: string,
  startTimer: () => NodeJS.Timeout,
): AsyncGenerator<Uint8Array> {
  // It runs only while a chunk is awaited: the caller may take its time.
  let timer = startTimer();
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield chunk;
      timer = startTimer();
    }
  } catch (error) {
    if (error instanceof FeedError) throw error;
    throw new FeedError(`the feed API broke off its answer (${what})`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Why the response is not what was asked for; null: it is. */
function problemOf(
  { status, headers }: Response,
  what: string,
  offsetBytes: number,
): FeedError | null {
  const version = headers.get(FEED_VERSION_HEADER) ?? String(FEED_VERSION);
  if (version !== String(FEED_VERSION) || status === NOT_ACCEPTABLE) {
    return new VersionError(version);
  }
  if (status === 200) return null;
  const range = headers.get('content-range') ?? '';
  if (status === 206 && range.startsWith(`bytes ${offsetBytes}-`)) return null;
  return new StatusError(status, what, headers.get('retry-after'));
}
