import {
  encodeMessage,
  encodeQuery,
  opt,
  type TestMessage,
  wireName,
} from '@weir/dns-wire/testing';
import { damage, damaged, queryMessage, responseMessage } from '@weir/dns-wire/testing/mutations';
import fc from 'fast-check';

/** Names that repeat, so that the cache, rules and special names are tested too. */
const NAMES = [
  ...Array.from({ length: 40 }, (_, i) => `n${i}.example.com`),
  'www.blocked.example',
  'www.allowed.blocked.example',
  'localhost',
  '4.3.2.10.in-addr.arpa',
  'use-application-dns.net',
  '.',
];

/** Queries as ordinary clients send them. */
const ordinaryQuery: fc.Arbitrary<TestMessage> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    qtype: fc.constantFrom(1, 1, 1, 28, 65, 16, 255),
    flags: fc.constantFrom(0x0100, 0x0100, 0x0120, 0x0110, 0),
    additionals: fc.constantFrom([], [opt(512)], [opt(1232)], [opt(1232, 0x8000)], [opt(65535)]),
  })
  .map(({ name, qtype, flags, additionals }) => ({
    flags,
    questions: [{ qname: wireName(name), qtype }],
    additionals,
  }));

/** A query, as a rule damaged. */
export const query = fc.oneof(damaged(ordinaryQuery), damaged(queryMessage));

/** Packets of clients, valid and damaged; the same for the same seed. */
export function queryPackets(seed: number, count: number): Uint8Array[] {
  return fc.sample(query, { seed, numRuns: count });
}

/** The answer of an upstream to a query. */
export type UpstreamAnswer = (id: number, qname: Uint8Array, qtype: number) => Uint8Array;

const upstreamAnswer: fc.Arbitrary<UpstreamAnswer> = fc
  .tuple(responseMessage, damage, fc.constantFrom(1, 1, 1, 1, 12))
  .map(([message, mutate, copies]): UpstreamAnswer => (id, qname, qtype) => {
    const answers = Array.from({ length: copies }, () => message.answers ?? []).flat();
    const questions = [{ qname, qtype }];
    return mutate(encodeMessage({ ...message, id, questions, answers }));
  });

/** Answers of upstreams, valid and damaged; the same for the same seed. */
export function upstreamAnswers(seed: number, count: number): UpstreamAnswer[] {
  return fc.sample(upstreamAnswer, { seed, numRuns: count });
}

/**
 * A query that is always answered. Its answer shows that all earlier packets of the same UDP socket have been read.
 */
export const SENTINEL_ID = 0xffff;
export const SENTINEL = encodeQuery('sentinel.blocked.example', 1, { id: SENTINEL_ID });
