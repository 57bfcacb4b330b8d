import type { Head, LogPoint } from '@weir/config-model';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import {
  createServer as createHttpsServer,
  type Server as HttpsServer,
  type ServerOptions,
} from 'node:https';
import { CHANGES_PAGE, type LoggedChange, renderChangesPage } from '../protocol/changes.js';
import {
  FEED_VERSION,
  FEED_VERSION_HEADER,
  type SnapshotPart,
  type Traced,
  type ReportVersion,
  versionReporter,
} from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { type FeedDownloads, feedDownloads } from './download-pool.js';
import { answerImage, answerSnapshot, IMAGE_PATH, refuse } from './download-responses.js';
import type { DeltaCache } from './delta-cache.js';
import type { SnapshotCache } from './snapshot-cache.js';
import type { StoredBytes } from './cached-file.js';

// Followers load this file too, and an import of node:http loads what belongs to `fetch`: 7 MB of memory (Node 26).
const { createServer } = process.getBuiltinModule('node:http');

export interface LogPage {
  readonly head: Head;
  /** Null: the log was pruned behind the revision. */
  readonly changes: readonly LoggedChange[] | null;
}

/** Source of what the feed API serves; the control plane implements it on the database. */
export interface FeedSource {
  /** The head of the log, and the next changes after the revision in order, at most `limit`; in one transaction. */
  changesAfter(revision: number, limit: number): Promise<LogPage>;
  /** The configuration at one revision: the head, then all rows, kinds in the order of `ENTITY_KINDS`. */
  snapshot(): AsyncIterable<SnapshotPart>;
  /** A catalogue image by the sha256 of its bytes; null: there is none. */
  catalogueImage(sha256: string): Promise<StoredBytes | null>;
}

export interface FeedServerTls {
  serverOptions(): ServerOptions;
  attach(server: HttpsServer): void;
}

export interface FeedServerOptions {
  readonly source: FeedSource;
  /** Whether this `Authorization` header has a bearer token that is accepted at the moment. */
  readonly isAuthorised: (authorization: string | undefined) => boolean;
  /** Certificate and key. Null or unset: HTTP. */
  readonly tls?: FeedServerTls | null;
  readonly log: FeedLogger;
  /** Whether an error of the source is an outage, answered with 503. Any other is answered with 500. */
  readonly isOutage: (error: unknown) => boolean;
  /** Snapshots that are sent to many. Without them each request reads the source. */
  readonly snapshots?: SnapshotCache | undefined;
  /** Deltas between catalogue images. Without them, images are sent whole. */
  readonly deltas?: DeltaCache | undefined;
  readonly downloads?: FeedDownloads;
  readonly traceOf?: (point: LogPoint) => Traced;
  /** Longest time without progress on a connection while a request is answered. */
  readonly stallMs?: number;
}

/** Places for the downloads of each kind, unless given. */
const PLACES = 64;
/** Many more than followers need. Others are closed at once: each uses a file descriptor of the control plane. */
const MAX_CONNECTIONS = 4_096;
const TIME_LIMITS = {
  requestTimeout: 10_000,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
/** Longer than the timeout of followers. */
const STALL_MS = 30_000;

/**
 * The feed API: `GET /snapshot?atLeast=N` (compressed JSON lines, with ranges), `GET /changes?after=N` (JSON; 410 when
 * the log no longer reaches back), `GET /catalogue/<sha256>` (bytes, with ranges),
 * `GET /catalogue/<sha256>/delta/<base sha256>` (compressed; 404 when there is none). The body of every error is
 * `{"detail": …}`. A request for another feed version gets 406. Downloads for which there is no place now get 503 with
 * Retry-After.
 */
export function createFeedServer(options: FeedServerOptions): Server {
  const { source, traceOf } = options;
  const serving: Serving = {
    downloads: feedDownloads(PLACES),
    ...options,
    reportVersion: versionReporter(
      options.log,
      'a follower asks for another version of the feed, and is refused',
    ),
    pages: new SharedReads((revision) => readPage(source, revision, traceOf)),
  };
  // All followers ask again and again during an outage, so it is logged once.
  let isOut = false;
  const fail = (error: unknown, response: ServerResponse): void => {
    const reason = String(error);
    const isOutage = options.isOutage(error);
    if (!isOutage || !isOut) options.log.error({ reason }, 'feed request failed');
    isOut ||= isOutage;
    if (response.headersSent) response.destroy();
    else if (isOutage) refuse(response, 503, 'The feed is not available now');
    else refuse(response, 500, 'Internal server error');
  };
  const server = createServerFor(options.tls ?? null, (request, response) => {
    handle(serving, request, response).then(
      () => {
        if (response.headersSent && response.statusCode === 200) isOut = false;
      },
      (error: unknown) => fail(error, response),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  // A follower that stops reading would keep the database transaction of its snapshot open.
  server.timeout = options.stallMs ?? STALL_MS;
  return server;
}

function createServerFor(tls: FeedServerTls | null, listener: RequestListener): Server {
  if (tls === null) return createServer(TIME_LIMITS, listener);
  const handshakeTimeout = TIME_LIMITS.headersTimeout;
  const server = createHttpsServer(
    { ...tls.serverOptions(), ...TIME_LIMITS, handshakeTimeout },
    listener,
  );
  tls.attach(server);
  return server;
}

interface Serving extends FeedServerOptions {
  readonly downloads: FeedDownloads;
  readonly reportVersion: ReportVersion;
  /** Pages of the change log as JSON, by the revision before; null: the log begins after it. */
  readonly pages: SharedReads<number, string | null>;
}

async function handle(
  options: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pages } = options;
  if (!options.isAuthorised(request.headers.authorization)) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    return refuse(response, 401, 'Not authenticated');
  }
  response.setHeader(FEED_VERSION_HEADER, FEED_VERSION);
  if (!asksForOwnVersion(request, options)) {
    return refuse(response, 406, `This feed speaks version ${FEED_VERSION}`);
  }
  const url = URL.parse(request.url ?? '/', 'http://feed.invalid');
  if (url === null) return refuse(response, 404, 'Not found');
  const { pathname, searchParams } = url;
  const image = IMAGE_PATH.exec(pathname);
  if (request.method !== 'GET') {
    response.setHeader('Allow', 'GET');
    return refuse(response, 405, 'Method not allowed');
  }
  if (pathname === '/snapshot') {
    return answerSnapshot(options, searchParams.get('atLeast'), request, response);
  }
  if (pathname === '/changes') return sendChanges(pages, searchParams.get('after'), response);
  if (image !== null) return answerImage(options, image, request, response);
  return refuse(response, 404, 'Not found');
}

function asksForOwnVersion(request: IncomingMessage, { reportVersion }: Serving): boolean {
  const wanted = String(request.headers[FEED_VERSION_HEADER.toLowerCase()] ?? FEED_VERSION);
  if (wanted === String(FEED_VERSION)) return true;
  reportVersion(wanted.slice(0, 20));
  return false;
}

async function sendChanges(
  pages: Serving['pages'],
  after: string | null,
  response: ServerResponse,
): Promise<void> {
  const revision = after !== null && /^\d{1,15}$/.test(after) ? Number(after) : Number.NaN;
  if (Number.isNaN(revision)) return refuse(response, 422, 'after is the revision to go on from');
  const page = await pages.read(revision);
  if (page === null) return refuse(response, 410, `The log begins after revision ${revision}`);
  response.setHeader('Content-Type', 'application/json').end(page);
}

async function readPage(
  source: FeedSource,
  revision: number,
  traceOf: FeedServerOptions['traceOf'],
): Promise<string | null> {
  const { head, changes } = await source.changesAfter(revision, CHANGES_PAGE);
  return changes && renderChangesPage(head, changes, traceOf);
}

interface Read<V> {
  readonly ended: Promise<unknown>;
  /** The read after it, for those that have asked meanwhile. */
  next: Promise<V> | null;
}

/** Many that ask for the same at once share a few reads. Each gets a read that began after it asked. */
export class SharedReads<K, V> {
  private readonly current = new Map<K, Read<V>>();

  constructor(private readonly readNow: (key: K) => Promise<V>) {}

  read(key: K): Promise<V> {
    const current = this.current.get(key);
    if (current === undefined) return this.begin(key);
    current.next ??= current.ended.then(() => this.begin(key));
    return current.next;
  }

  private begin(key: K): Promise<V> {
    const read = this.readNow(key);
    const end = (): void => {
      this.current.delete(key);
    };
    this.current.set(key, { next: null, ended: read.then(end, end) });
    return read;
  }
}
