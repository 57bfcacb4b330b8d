import { parseQuery, parseResponse, Query, Response } from '@weir/dns-wire';
import {
  concat,
  encodeMessage,
  encodeQuery,
  pointerTo,
  type TestMessage,
  type TestRecord,
  wireName,
} from '@weir/dns-wire/testing';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import type { Question } from '../question.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

/** A parsed query, as the cache takes it. The hash is a function of the lower-case name: 53 bits of the real hash. */
export function questionOf(
  name: string,
  qtype = 1,
  options: Parameters<typeof encodeQuery>[2] = {},
): Question & { query: Query; bytes: Uint8Array } {
  const bytes = encodeQuery(name, qtype, options);
  const query = new Query();
  parseQuery(bytes, bytes.length, query);
  const hash = hashDomain(name.toLowerCase(), KEY);
  return { bytes, query, nameHashLow: hash | 0, nameHashHigh: Math.floor(hash / 2 ** 32) | 0 };
}

/** An upstream's response to the question, parsed. */
export function responseTo({ bytes, query }: Question, message: TestMessage): Response {
  const qname = bytes.slice(12, query.questionEnd - 4);
  const questions = [{ qname, qtype: query.qtype }];
  const encoded = encodeMessage({ flags: 0x8180, questions, ...message });
  const response = new Response();
  if (!parseResponse(encoded, encoded.length, response)) throw new Error('malformed response');
  return response;
}

/** An SOA record of the queried name. */
export function soa(ttl: number, minimum: number): TestRecord {
  const numbers = [1, 2, 3, 4, minimum].flatMap((n) => [n >>> 24, n >>> 16, n >>> 8, n]);
  const rdata = concat(wireName('ns.example.com'), wireName('host.example.com'), numbers);
  return { owner: pointerTo(12), type: 6, ttl, rdata };
}
