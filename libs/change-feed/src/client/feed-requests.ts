import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { FEED_VERSION, FEED_VERSION_HEADER } from '../protocol/protocol.js';

// An import of node:http loads what belongs to `fetch` too: 7 MB of memory in each thread (Node 26).
const http = process.getBuiltinModule('node:http');

/** Statuses for `try again later`, from the feed API or a proxy (RFC 9110 §15, RFC 6585 §4, RFC 8470 §5.2). */
const TRANSIENT_STATUSES = new Set([408, 425, 429, 502, 503, 504]);
const MAX_RETRY_AFTER_S = 600;

export class FeedError extends Error {
  override readonly name: string = 'FeedError';
  /** Whether the same request will fail again. False: the API is unreachable, busy or slow, and may answer later. */
  readonly isRefusal: boolean = false;
  /** The least pause before the same request, as the API asks for; 0: it says nothing. */
  readonly retryAfterMs: number = 0;
}

export class StatusError extends FeedError {
  override readonly isRefusal: boolean;
  override readonly retryAfterMs: number;

  constructor(
    readonly status: number,
    what: string,
    retryAfter?: string,
  ) {
    super(`the feed API answered ${status} for the ${what}`);
    this.isRefusal = !TRANSIENT_STATUSES.has(status);
    this.retryAfterMs = this.isRefusal ? 0 : retryAfterMs(retryAfter, Math.random());
  }
}

/**
 * The pause that a Retry-After header asks for (RFC 9110 §10.2.3), and up to a second more, because it is in whole
 * seconds and others were told the same. A date is ignored.
 */
export function retryAfterMs(header: string | undefined, random: number): number {
  if (header === undefined || !/^\d{1,9}$/.test(header)) return 0;
  return (Math.min(Number(header), MAX_RETRY_AFTER_S) + random) * 1000;
}

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

export interface FeedResponse {
  /** 200: all of it; 206: what begins at the offset. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Read it, or cancel the response. @throws FeedError */
  readonly body: AsyncGenerator<Uint8Array>;
  cancel(): void;
}

/** Sends requests to the feed API, each on a connection of its own. A redirect is refused. */
export class FeedRequests {
  private readonly closing = new AbortController();
  private readonly agent: () => Agent;

  /** @param idleTimeoutMs longest time without a byte, before a response or within it. */
  constructor(
    private readonly feedUrl: string,
    private readonly feedToken: () => string,
    private readonly idleTimeoutMs: number,
    agent?: () => Agent,
  ) {
    const ownAgent = feedUrl.startsWith('https:') ? new HttpsAgent() : new http.Agent();
    this.agent = agent ?? (() => ownAgent);
  }

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
      setTimeout(
        () => idleTimeout.abort(new FeedError(`the feed API sent nothing for too long (${what})`)),
        this.idleTimeoutMs,
      );
    const signal = AbortSignal.any([
      ...[idleTimeout.signal, this.closed],
      ...(callerSignal ? [callerSignal] : []),
    ]);
    const timer = startTimer();
    let response: IncomingMessage;
    try {
      response = await this.get(request, signal);
    } finally {
      clearTimeout(timer);
    }
    const { statusCode: status = 0, headers } = response;
    const problem = problemOf(status, headers, what, offsetBytes);
    const cancel = (): void => void response.destroy();
    if (problem === null) {
      return { status, headers, body: readBody(response, signal, what, startTimer), cancel };
    }
    cancel();
    throw problem;
  }

  private async get({ path, headers }: FeedRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const options = {
      agent: this.agent(),
      signal,
      headers: {
        ...headers,
        Authorization: `Bearer ${this.feedToken()}`,
        [FEED_VERSION_HEADER]: String(FEED_VERSION),
      },
    };
    try {
      return await new Promise((resolve, reject) => {
        // `once` would leave an error after the response without a listener.
        http.request(new URL(path, this.feedUrl), options, resolve).on('error', reject).end();
      });
    } catch (error) {
      const cause: unknown = signal.aborted ? signal.reason : error;
      if (cause instanceof FeedError) throw cause;
      throw new FeedError(`the feed API does not answer: ${String(cause)}`, { cause });
    }
  }
}

async function* readBody(
  response: IncomingMessage,
  signal: AbortSignal,
  what: string,
  startTimer: () => NodeJS.Timeout,
): AsyncGenerator<Uint8Array> {
  // It runs only while a chunk is awaited: the caller may take its time.
  let timer = startTimer();
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield chunk;
      timer = startTimer();
    }
  } catch (error) {
    const cause: unknown = signal.aborted ? signal.reason : error;
    if (cause instanceof FeedError) throw cause;
    throw new FeedError(`the feed API broke off its answer (${what})`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Why the response is not what was asked for; null: it is. */
function problemOf(
  status: number,
  headers: IncomingHttpHeaders,
  what: string,
  offsetBytes: number,
): FeedError | null {
  const version = String(headers[FEED_VERSION_HEADER.toLowerCase()] ?? FEED_VERSION);
  if (version !== String(FEED_VERSION) || status === NOT_ACCEPTABLE) {
    // Worth a retry: during an upgrade another replica of the control plane may answer the next request.
    return new FeedError(
      `the feed API speaks version ${version.slice(0, 20)} of the feed, ` +
        `this process version ${FEED_VERSION}; what is in force stays`,
    );
  }
  if (status === 200) return null;
  const range = headers['content-range'] ?? '';
  if (status === 206 && range.startsWith(`bytes ${offsetBytes}-`)) return null;
  return new StatusError(status, what, headers['retry-after']);
}

/** Decompresses zstd. @throws what `damaged` returns; FeedError when the chunks throw it. */
export async function* decompressed(
  chunks: AsyncIterable<Uint8Array>,
  damaged: (cause: unknown) => Error,
): AsyncGenerator<Uint8Array> {
  const decompress = createZstdDecompress();
  let problem: unknown;
  pipeline(Readable.from(chunks), decompress, (error) => {
    problem ??= error;
  });
  try {
    yield* decompress as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof FeedError) throw error;
    throw damaged(problem);
  }
}
