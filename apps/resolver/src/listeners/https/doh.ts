import type { ClientAddress } from '@weir/clients';
import { freshnessSeconds, MAX_MESSAGE_BYTES, parseResponse, Response } from '@weir/dns-wire';
import type { TLSSocket } from 'node:tls';
import type { QueryCounters } from '../../metrics/query-counters.js';
import { DropReason, type Exchange, type ReplyPath, Transport } from '../../query/exchange.js';

/** RFC 8484 §4.1; the URI template is `https://…/dns-query{?dns}`. */
const PATH = '/dns-query';
const MEDIA_TYPE = 'application/dns-message';

/** Largest accepted query. A real one is far smaller. */
export const MAX_QUERY_BYTES = 4096;

/** Largest accepted headers of a request. A query in a URI has at most 5,462 characters. */
export const MAX_HEADER_BYTES = 8_192;

/** From the headers of a request until its answer has left. */
export const REQUEST_MS = 10_000;

/** Room for a query of ordinary size. A larger body gets twice the room, again and again. */
const FIRST_BODY_BYTES = 512;

/** The body of a request. It copies what arrives: a piece would hold all that was read from its socket. */
export class RequestBody {
  length = 0;
  private room: Buffer = Buffer.alloc(0);

  get bytes(): Buffer {
    return this.room.subarray(0, this.length);
  }

  /** @returns false when the piece is too much */
  hasRoomFor(piece: Buffer): boolean {
    return this.length + piece.length <= MAX_QUERY_BYTES;
  }

  /** Adds a piece for which there is room. @returns the bytes of memory that this took */
  append(piece: Buffer): number {
    const { room, length } = this;
    const end = length + piece.length;
    if (end > room.length) {
      const size = Math.min(MAX_QUERY_BYTES, Math.max(FIRST_BODY_BYTES, 2 * room.length, end));
      // Not of the pool, of which it would hold a whole slab.
      this.room = Buffer.allocUnsafeSlow(size);
      room.copy(this.room, 0, 0, length);
    }
    piece.copy(this.room, length);
    this.length = end;
    return this.room.length - room.length;
  }
}

/** The part of a request that says what is asked. */
export interface RequestHead {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly contentType: string;
}

/** What to do with a request: an HTTP error, a query from the URI, or a query in the body. */
export type DohRequest =
  | { readonly status: number }
  | { readonly query: Buffer }
  | { readonly inBody: true };

/** Reads a DNS over HTTPS request, except its body. */
export function readRequest({ method, target, contentType }: RequestHead): DohRequest {
  const [path, ...rest] = target.split('?');
  if (path !== PATH) return { status: 404 };
  if (method === 'GET') return readParameter(rest.join('?'));
  if (method !== 'POST') return { status: 405 };
  // The query is in the body. Nothing else is read.
  if (rest.length > 0) return { status: 400 };
  const [mediaType] = contentType.split(';');
  return mediaType.trim().toLowerCase() === MEDIA_TYPE ? { inBody: true } : { status: 415 };
}

/** Nothing but the parameter `dns`, as clients send it. */
const ONE_PARAMETER = /^dns=[\w-]+$/;

/** The parameter `dns`: base64url without padding (RFC 8484 §6). */
function readParameter(text: string): DohRequest {
  if (ONE_PARAMETER.test(text)) return decode(text.slice('dns='.length));
  const values = new URLSearchParams(text).getAll('dns');
  if (values.length !== 1 || !/^[\w-]+$/.test(values[0])) return { status: 400 };
  return decode(values[0]);
}

function decode(base64url: string): DohRequest {
  const query = Buffer.from(base64url, 'base64url');
  return query.length > MAX_QUERY_BYTES ? { status: 413 } : { query };
}

let dateSeconds = 0;
let date = '';

/** The field Date (RFC 9110 §6.6.1): the time in whole seconds. */
function httpDate(): string {
  const seconds = Math.floor(Date.now() / 1_000);
  if (seconds !== dateSeconds) date = new Date(seconds * 1_000).toUTCString();
  dateSeconds = seconds;
  return date;
}

export function errorHeaders(status: number): Record<string, string> {
  const headers = { date: httpDate(), 'content-length': '0', 'cache-control': 'no-store' };
  return status === 405 ? { ...headers, allow: 'GET, POST' } : headers;
}

/** Not for shared caches: the next subscriber may have another profile. */
export function answerHeaders(bytes: number, maxAgeSeconds: number): Record<string, string> {
  return {
    date: httpDate(),
    'content-type': MEDIA_TYPE,
    'content-length': String(bytes),
    'cache-control': `private, max-age=${maxAgeSeconds}`,
  };
}

/** A connection, whichever version of HTTP it speaks. */
export interface DohConnection {
  readonly socket: TLSSocket;
  readonly client: ClientAddress;
  readonly counters: QueryCounters;
  /** Passes a query on. Its answer goes to `reply`. */
  handle(query: Buffer, reply: DohReply): void;
  /** A request was answered with this HTTP status. This may close the connection. */
  onAnswer(status: number): void;
  /** A request was reset or refused. This may close the connection. */
  onGlitch(): void;
  /** This many bytes of memory are held. This may close the connection. */
  hold(bytes: number): void;
}

/** HTTP statuses of queries without an answer. Any other reason is an error of the server. */
const STATUSES: Partial<Record<DropReason, number>> = {
  [DropReason.malformed]: 400,
  [DropReason.limited]: 429,
};

/** Used to read the TTLs of an answer; one answer at a time. */
const response = new Response();

/** The way back of one query over HTTPS. DNS errors are normal HTTP answers (RFC 8484 §4.2.1). */
export abstract class DohReply implements ReplyPath {
  readonly transport = Transport.https;
  /** The query has its answer, or gets none. */
  onSettled = (): void => undefined;

  constructor(private readonly counters: QueryCounters) {}

  /** Answers with status 200. The bytes are copied. */
  protected abstract respond(answer: Uint8Array, maxAgeSeconds: number): void;

  abstract fail(status: number): void;

  maxAnswerBytes(): number {
    return MAX_MESSAGE_BYTES;
  }

  keepaliveUnits(): number {
    return -1;
  }

  reply(_exchange: Exchange, answer: Uint8Array, length: number): void {
    this.onSettled();
    const maxAge = parseResponse(answer, length, response) ? freshnessSeconds(response) : 0;
    this.respond(answer.subarray(0, length), maxAge);
  }

  drop(reason: DropReason): void {
    this.onSettled();
    this.counters.drop(reason);
    this.fail(STATUSES[reason] ?? 500);
  }
}
