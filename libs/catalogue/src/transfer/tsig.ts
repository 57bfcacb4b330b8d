import {
  ARCOUNT_OFFSET,
  CLASS_ANY,
  HEADER_BYTES,
  readUint16,
  RECORD_FIXED_BYTES,
  Type,
  writeUint16,
} from '@weir/dns-wire';
import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { CatalogueError } from '../catalogue-error.js';
import { canonicalName, endOfName, malformed, wireName } from './wire.js';

/** A key in the form that dig takes, such as `hmac-sha256:name:c2VjcmV0`. */
export const TSIG_KEY =
  /^hmac-sha(?:224|256|384|512):[A-Za-z0-9_.-]{1,253}:[A-Za-z0-9+/]{4,}={0,2}$/;

/** Seconds by which two clocks may differ (RFC 8945 §10). */
const FUDGE = 300;
/** Of every TSIG record: class ANY, TTL 0. */
const CLASS_AND_TTL = Buffer.from([0, CLASS_ANY, 0, 0, 0, 0]);
/** Messages without a signature between two that have one (RFC 8945 §5.3.1). */
const MAX_UNSIGNED = 99;

/** What an error of a TSIG record says (RFC 8945 §5.2). */
const ERRORS: Readonly<Record<number, string>> = {
  16: 'has another secret for the key (BADSIG)',
  17: 'does not know the key with this algorithm (BADKEY)',
  18: 'has a clock that differs too much from that of this machine (BADTIME)',
  22: 'wants a longer signature (BADTRUNC)',
};

/** Signs a query, and verifies the messages that answer it one after the other. Source: RFC 8945 §4.3, §5. */
export class Tsig {
  private readonly hash: string;
  private readonly name: Buffer;
  private readonly algorithm: Buffer;
  private readonly secret: Buffer;
  /** Of what is to be signed next. */
  private hmac: Hmac;
  private unsigned = 0;
  private isFirst = true;

  /** @param keys as `TSIG_KEY` @throws CatalogueError when no key has that name */
  constructor(name: string, keys: readonly string[]) {
    const [algorithm, , secret] =
      keys.map((key) => key.split(':')).find((key) => isSameName(key[1], name)) ?? [];
    if (algorithm === undefined) {
      throw new CatalogueError(`needs the key ${name} in CATALOGUE_TSIG_KEYS`);
    }
    this.hash = algorithm.slice('hmac-'.length);
    this.name = wireName(name);
    this.algorithm = wireName(algorithm);
    this.secret = Buffer.from(secret, 'base64');
    this.hmac = this.newHmac();
  }

  /** @returns the query with its TSIG record. */
  sign(query: Uint8Array): Buffer {
    const timers = Buffer.alloc(8);
    timers.writeUIntBE(nowSeconds(), 0, 6);
    timers.writeUInt16BE(FUDGE, 6);
    const rest = Buffer.alloc(4);
    const mac = this.hmac.update(query).update(this.variables(timers, rest)).digest();
    this.hmac = this.newHmac(mac);
    const id = query.subarray(0, 2);
    const rdata = Buffer.concat([this.algorithm, timers, uint16(mac.length), mac, id, rest]);
    const fixed = [uint16(Type.tsig), CLASS_AND_TTL, uint16(rdata.length)];
    const signed = Buffer.concat([query, this.name, ...fixed, rdata]);
    writeUint16(signed, ARCOUNT_OFFSET, readUint16(signed, ARCOUNT_OFFSET) + 1);
    return signed;
  }

  /**
   * Verifies the next message.
   * @param at where its TSIG record begins; -1: it has none
   * @throws CatalogueError when it is not from who knows the key, or not of now
   */
  verify(message: Uint8Array, at: number): void {
    if (at === -1) {
      if (this.isFirst) throw new CatalogueError('answered without a signature');
      if (++this.unsigned > MAX_UNSIGNED) {
        throw new CatalogueError(`sent more than ${MAX_UNSIGNED} messages without a signature`);
      }
      this.hmac.update(message);
      return;
    }
    const record = readTsig(message, at);
    const problem = ERRORS[record.error];
    if (record.error !== 0) throw new CatalogueError(problem ?? `has TSIG error ${record.error}`);
    if (!record.name.equals(this.name) || !record.algorithm.equals(this.algorithm)) {
      throw new CatalogueError('answered with a signature of another key');
    }
    // What was signed: the message as it was before its last record came (RFC 8945 §4.3.2).
    const header = Buffer.from(message.subarray(0, HEADER_BYTES));
    writeUint16(header, 0, record.originalId);
    writeUint16(header, ARCOUNT_OFFSET, readUint16(header, ARCOUNT_OFFSET) - 1);
    const { timers, rest, mac } = record;
    const expected = this.hmac
      .update(header)
      .update(message.subarray(HEADER_BYTES, at))
      .update(this.isFirst ? this.variables(timers, rest) : timers)
      .digest();
    if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
      throw new CatalogueError('answered with a wrong signature');
    }
    const offSeconds = timers.readUIntBE(0, 6) - nowSeconds();
    if (Math.abs(offSeconds) > timers.readUInt16BE(6)) {
      throw new CatalogueError(
        `has a clock that differs by ${Math.abs(offSeconds)} s from that of this machine`,
      );
    }
    this.hmac = this.newHmac(mac);
    this.unsigned = 0;
    this.isFirst = false;
  }

  /** @throws CatalogueError when the last message had no signature. */
  end(): void {
    if (this.unsigned > 0) throw new CatalogueError('ended without a signature');
  }

  /** @param mac the signature before, which the next one covers */
  private newHmac(mac?: Buffer): Hmac {
    const hmac = createHmac(this.hash, this.secret);
    return mac === undefined ? hmac : hmac.update(uint16(mac.length)).update(mac);
  }

  /** The TSIG variables (RFC 8945 §4.3.3). */
  private variables(timers: Buffer, rest: Buffer): Buffer {
    return Buffer.concat([this.name, CLASS_AND_TTL, this.algorithm, timers, rest]);
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Whether they are one name; a dot at the end may be left out. */
function isSameName(one: string, other: string): boolean {
  const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');
  return plain(one) === plain(other);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  writeUint16(bytes, 0, value);
  return bytes;
}

/**
 * The TSIG record of a message (RFC 8945 §4.2).
 * @param at of a record that ends within the message
 * @returns key and algorithm as canonical wire names; as they are in the record `timers`, which is TIME and FUDGE, and
 *   `rest`, which is ERROR, OTHER LEN and OTHER DATA
 */
function readTsig(message: Uint8Array, at: number) {
  const rdata = endOfName(message, at) + RECORD_FIXED_BYTES;
  const end = rdata + readUint16(message, rdata - 2);
  const timersAt = endOfName(message, rdata);
  const macAt = timersAt + 10;
  const idAt = macAt + (macAt <= end ? readUint16(message, macAt - 2) : 0);
  if (idAt + 6 > end || idAt + 6 + readUint16(message, idAt + 4) !== end) throw malformed();
  const part = (from: number, to: number): Buffer => Buffer.from(message.subarray(from, to));
  return {
    name: canonicalName(message, at),
    algorithm: canonicalName(message, rdata),
    timers: part(timersAt, timersAt + 8),
    mac: part(macAt, idAt),
    originalId: readUint16(message, idAt),
    error: readUint16(message, idAt + 2),
    rest: part(idAt + 2, end),
  };
}
