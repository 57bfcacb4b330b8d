import type { SubscriberKey } from '@weir/clients';
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
 * Interoperable server cookies (RFC 9018 §4). 16 bytes after the 8 bytes of the client cookie:
 *
 *    8 version, 1   9 reserved (3)   12 timestamp in seconds since 1970 (4)   16 hash (8)
 *
 * The hash is SipHash-2-4 over the 16 bytes before it and the address of the client. A client behind NAPT adds the two
 * bounds of its range of ports (4), so that its cookie proves nothing about neighbours with the same address.
 */
const VERSION = 1;
const TIMESTAMP_OFFSET = 12;
const HASH_OFFSET = 16;
/** A cookie is valid up to this age, and up to this far in the future. It is replaced after the third time (§4.3). */
const MAX_AGE_SECONDS = 3600;
const MAX_CLOCK_SKEW_SECONDS = 300;
const RENEW_AGE_SECONDS = 1800;

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const PORT_RANGE_BYTES = 4;

/** Issues and verifies server cookies. Allocates nothing. */
export class ServerCookies {
  private readonly hashes: readonly SipHash[];
  /** The bytes to hash. */
  private readonly message = new Uint8Array(HASH_OFFSET + IPV6_BYTES + PORT_RANGE_BYTES);

  /**
   * @param secrets one or more. The first signs; all of them verify.
   * @param subscriber tells clients with the same address apart
   * @param nowMs wall clock in milliseconds
   */
  constructor(
    secrets: readonly HashKey[],
    private readonly subscriber: Pick<SubscriberKey, 'identify' | 'portRange'>,
    private readonly nowMs: () => number,
  ) {
    this.hashes = secrets.map((secret) => new SipHash(secret));
  }

  /** Handles the COOKIE option of a query: verifies the server cookie, and puts a valid one into the answer. */
  process(query: Query, client: Client): void {
    const nowSeconds = Math.floor(this.nowMs() / 1000) | 0;
    const age = (nowSeconds - readUint32(query.cookie, TIMESTAMP_OFFSET)) | 0;
    const signer = this.findSigner(query, client, age);
    query.hasValidCookie = signer >= 0;
    query.hasAnswerCookie = true;
    // A young cookie goes back unchanged.
    if (signer === 0 && age <= RENEW_AGE_SECONDS) return;
    writeUint32(query.cookie, CLIENT_COOKIE_BYTES, VERSION << 24);
    writeUint32(query.cookie, TIMESTAMP_OFFSET, nowSeconds);
    this.sign(query, client);
  }

  /**
   * @returns the index of the secret that signed the server cookie; −1 when there is none or the cookie is too old.
   */
  private findSigner({ cookie, cookieBytes }: Query, client: Client, age: number): number {
    const isOurs = cookieBytes === ANSWER_COOKIE_BYTES && cookie[CLIENT_COOKIE_BYTES] === VERSION;
    if (!isOurs || age > MAX_AGE_SECONDS || age < -MAX_CLOCK_SKEW_SECONDS) return -1;
    const length = this.fillMessage(cookie, client);
    const low = readUint32(cookie, HASH_OFFSET) | 0;
    const high = readUint32(cookie, HASH_OFFSET + 4) | 0;
    for (let i = 0; i < this.hashes.length; i++) {
      const hash = this.hashes[i];
      hash.hash(this.message, length);
      // No branch in between: the time that this takes does not tell how many bytes were right.
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

  /** @returns the number of bytes to hash. */
  private fillMessage(cookie: Uint8Array, client: Client): number {
    const { message, subscriber } = this;
    const { family, words } = client;
    for (let i = 0; i < HASH_OFFSET; i++) message[i] = cookie[i];
    const addressBytes = family === 4 ? IPV4_BYTES : IPV6_BYTES;
    for (let i = 0; i < addressBytes; i += 4) writeUint32(message, HASH_OFFSET + i, words[i >> 2]);
    const end = HASH_OFFSET + addressBytes;
    subscriber.identify(client);
    if (subscriber.portRange === 0) return end;
    writeUint32(message, end, subscriber.portRange);
    return end + PORT_RANGE_BYTES;
  }
}

/** SipHash puts its result on the wire least significant byte first. The result is signed. */
function swapBytes(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}
