import { encodeQuery, proxyHeader } from '../../deployment/dns-message.js';
import { Random } from '../../deployment/random.js';
import type { LoadResult } from '../../services/load-generators.js';
import { draw, nameOf, NOBODY, type Question, type Size } from './configuration.js';

/**
 * Datagrams for the load generator, one after the other: length and offset of the message id as 16 bits each,
 * little-endian; then the bytes.
 */
export const RECORD_HEADER_BYTES = 4;

/** What the load generator is told. */
export interface GeneratorOptions {
  /** Datagrams in the format above. */
  readonly file: string;
  readonly port: number;
  /** Null: once through the file. */
  readonly seconds: number | null;
  /** Queries per second; null: as fast as answers come. */
  readonly rate: number | null;
  /** Most queries without an answer. */
  readonly window: number;
}

/** What it tells. */
export interface GeneratorResult extends LoadResult {
  /** Answers with the block page. */
  readonly blocked: number;
}

/** The load balancer: the resolver accepts PROXY headers from this address only. */
export const BALANCER = '127.0.0.2';

/**
 * The same queries at every run, for a configuration of this size. The warm-up has each name once, from a client
 * without a profile: after it all answers are cached.
 */
export function makeLoad(
  size: Size,
  names: number,
  count: number,
): { readonly queries: Buffer; readonly warmUp: Buffer } {
  const random = new Random(4_711);
  const questions = Array.from({ length: count }, () => draw(size, names, random));
  const first = new Map(questions.map((one) => [`${one.letter}${one.n} ${one.depth}`, one]));
  const warmUp = [...first.values()].map((one) => recordOf({ ...one, ...NOBODY }));
  return { queries: Buffer.concat(questions.map(recordOf)), warmUp: Buffer.concat(warmUp) };
}

/** A PROXY header (version 2) with the client, then a query for the A record of the name. */
function recordOf({ words, port, letter, n, depth }: Question): Buffer {
  const address = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) address.writeUInt32BE(word, i * 4);
  const header = proxyHeader(address, port);
  const datagram = Buffer.concat([header, encodeQuery(0, nameOf(letter, n, depth))]);
  const record = Buffer.alloc(RECORD_HEADER_BYTES);
  record.writeUInt16LE(datagram.length, 0);
  record.writeUInt16LE(header.length, 2);
  return Buffer.concat([record, datagram]);
}
