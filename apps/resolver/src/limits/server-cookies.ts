import { type HashKey, SipHash } from '@weir/dns-name';
import {
  CLIENT_COOKIE_BYTES,
  ANSWER_COOKIE_BYTES,
  type Query,
  readUint32,
  writeUint32,
} from '@weir/dns-wire';
import type { Client } from '@weir/policy';

/*
 * Server cookies that servers of all makers understand (RFC 9018 §4), 16 bytes behind the client's 8:
 *
 *   8 version, 1   9 reserved (3)   12 timestamp in seconds of 1970 (4)   16 hash (8)
 *
 * The hash is SipHash-2-4 of the 16 bytes before it and the client's address.
 */
const VERSION = 1;
const TIMESTAMP_OFFSET = 12;
const HASH_OFFSET = 16;
/** Age in seconds until which a cookie is believed, before which it may lie in the future, and after which it is replaced (§4.3). */
const MAX_AGE_SECONDS = 3600;
const MAX_CLOCK_SKEW_SECONDS = 300;
const RENEW_AGE_SECONDS = 1800;

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/** Gives out and recognises server cookies. Allocates nothing. */
export class ServerCookies {
  private readonly hashes: readonly SipHash[];
  /** What is hashed. */
  private readonly message = new Uint8Array(HASH_OFFSET + IPV6_BYTES);

  /**
   * @param secrets the first signs, all are believed; one or more
   * @param nowMs wall clock in milliseconds
   */
  constructor(
    secrets: readonly HashKey[],
    private readonly nowMs: () => number,
  ) {
    this.hashes = secrets.map((secret) => new SipHash(secret));
  }

  /** For a query with a COOKIE option: finds out whether its server cookie is good, and has the answer carry a good one. */
  process(query: Query, client: Client): void {
    const nowSeconds = Math.floor(this.nowMs() / 1000) | 0;
    const age = (nowSeconds - readUint32(query.cookie, TIMESTAMP_OFFSET)) | 0;
    const signer = this.findSigner(query, client, age);
    query.hasValidCookie = signer >= 0;
    query.hasAnswerCookie = true;
    // One that is still young goes back as it is.
    if (signer === 0 && age <= RENEW_AGE_SECONDS) return;
    writeUint32(query.cookie, CLIENT_COOKIE_BYTES, VERSION << 24);
    writeUint32(query.cookie, TIMESTAMP_OFFSET, nowSeconds);
    this.sign(query, client);
  }

  /** @returns the index of the secret that the query's server cookie was signed with, −1 for none; its age decides too. */
  private findSigner({ cookie, cookieBytes }: Query, client: Client, age: number): number {
    const isOurs = cookieBytes === ANSWER_COOKIE_BYTES && cookie[CLIENT_COOKIE_BYTES] === VERSION;
    if (!isOurs || age > MAX_AGE_SECONDS || age < -MAX_CLOCK_SKEW_SECONDS) return -1;
    const length = this.fillMessage(cookie, client);
    const low = readUint32(cookie, HASH_OFFSET) | 0;
    const high = readUint32(cookie, HASH_OFFSET + 4) | 0;
    for (let i = 0; i < this.hashes.length; i++) {
      const hash = this.hashes[i];
      hash.hash(this.message, length);
      // Without a branch in between: how long it takes does not tell how much was right.
      if (((swapBytes(hash.low) ^ low) | (swapBytes(hash.high) ^ high)) === 0) return i;
    }
    return -1;
  }

  private sign({ cookie }: Query, client: Client): void {
    const length = this.fillMessage(cookie, client);
    const [hash] = this.hashes;
    hash.hash(this.message, length);
    writeUint32(cookie, HASH_OFFSET, swapBytes(hash.low));
    writeUint32(cookie, HASH_OFFSET + 4, swapBytes(hash.high));
  }

  /** @returns the bytes to hash. */
  private fillMessage(cookie: Uint8Array, { family, words }: Client): number {
    const { message } = this;
    for (let i = 0; i < HASH_OFFSET; i++) message[i] = cookie[i];
    const addressBytes = family === 4 ? IPV4_BYTES : IPV6_BYTES;
    for (let i = 0; i < addressBytes; i += 4) writeUint32(message, HASH_OFFSET + i, words[i >> 2]);
    return HASH_OFFSET + addressBytes;
  }
}

/** The hash's bytes go out with the least significant first, what the wire's numbers are not. Signed. */
function swapBytes(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}
