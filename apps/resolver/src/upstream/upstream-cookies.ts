import {
  addCookies,
  CLIENT_COOKIE_BYTES,
  MAX_COOKIES_BYTES,
  MIN_COOKIES_BYTES,
  readUint16,
  type Response,
} from '@weir/dns-wire';
import { randomFillSync } from 'node:crypto';

/** How long a client cookie is used. */
const RENEW_MS = 86_400_000;
/** For how long an upstream whose answers have shown no cookies, or wrong ones, may send such answers. */
const WITHOUT_COOKIE_MS = 300_000;

/**
 * The DNS cookies of one upstream (RFC 7873). An upstream that supports them repeats our client cookie in each answer,
 * and a forger has to guess it. The client cookie is random, another one for each upstream, so that it links nobody's
 * queries (RFC 9018 §3). Times are milliseconds on one clock, passed in by the caller.
 */
export class UpstreamCookies {
  /** The client cookie, then the server cookie where the upstream has sent one. */
  private readonly cookies = new Uint8Array(MAX_COOKIES_BYTES);
  private size = 0;
  /** The client cookie before, for answers that are under way. */
  private readonly previous = new Uint8Array(CLIENT_COOKIE_BYTES);
  private renewAtMs = 0;
  private optionalUntilMs = 0;
  private localAddress = '';

  constructor() {
    this.renew();
  }

  /** Queries come from this address. Another address needs another client cookie (RFC 9018 §3). */
  useFrom(localAddress: string): void {
    if (this.localAddress !== localAddress) this.renew();
    this.localAddress = localAddress;
  }

  /** Called regularly. */
  maintain(nowMs: number): void {
    if (this.renewAtMs === 0) this.renewAtMs = nowMs + RENEW_MS;
    if (nowMs < this.renewAtMs) return;
    this.renewAtMs = nowMs + RENEW_MS;
    this.renew();
  }

  /** Adds the cookies to a query without options. @returns its new length */
  addTo(query: Uint8Array, length: number): number {
    return addCookies(query, length, this.cookies, this.size);
  }

  /** Whether answers of the upstream must have cookies. */
  isExpected(nowMs: number): boolean {
    return this.size > CLIENT_COOKIE_BYTES && nowMs >= this.optionalUntilMs;
  }

  /** Keeps the server cookie of a good answer to a query with cookies. @returns whether the answer may be forged */
  isSuspect(response: Response, nowMs: number): boolean {
    if (response.cookieAt === 0) return this.isExpected(nowMs);
    if (this.keep(response) || hasClientCookie(response, this.previous)) return false;
    return nowMs >= this.optionalUntilMs;
  }

  /**
   * Takes note of an answer that came over TCP, so it is not forged. It may have no cookies, or those of another client
   * when it comes from the cache of a proxy.
   */
  learn(response: Response, nowMs: number): void {
    const isGood = response.cookieAt > 0 && this.keep(response);
    if (!isGood) this.optionalUntilMs = nowMs + WITHOUT_COOKIE_MS;
  }

  /** Keeps the server cookie. @returns false for an answer to another client cookie, and for a malformed one */
  private keep(response: Response): boolean {
    if (!hasClientCookie(response, this.cookies)) return false;
    const size = sizeOf(response);
    if (size < MIN_COOKIES_BYTES) return true;
    for (let i = CLIENT_COOKIE_BYTES; i < size; i++) {
      this.cookies[i] = response.bytes[response.cookieAt + i];
    }
    this.size = size;
    return true;
  }

  private renew(): void {
    this.previous.set(this.cookies.subarray(0, CLIENT_COOKIE_BYTES));
    randomFillSync(this.cookies, 0, CLIENT_COOKIE_BYTES);
    this.size = CLIENT_COOKIE_BYTES;
  }
}

function sizeOf({ bytes, cookieAt }: Response): number {
  return readUint16(bytes, cookieAt - 2);
}

/** Whether the COOKIE option has a valid length and begins with that client cookie. */
function hasClientCookie(response: Response, clientCookie: Uint8Array): boolean {
  const { bytes, cookieAt } = response;
  const size = sizeOf(response);
  const isValid =
    size === CLIENT_COOKIE_BYTES || (size >= MIN_COOKIES_BYTES && size <= MAX_COOKIES_BYTES);
  if (!isValid) return false;
  for (let i = 0; i < CLIENT_COOKIE_BYTES; i++) {
    if (bytes[cookieAt + i] !== clientCookie[i]) return false;
  }
  return true;
}
