import { encodeMessage, opt, type TestMessage } from '@weir/dns-wire/testing';
import type { AskedQuery } from './upstream-server.js';

/** The answer of an upstream to a query: same id and question, RD and RA set, OPT. */
export function respond({ bytes, message }: AskedQuery, answer: TestMessage = {}): Uint8Array {
  const [question] = message.questions;
  if (question === undefined) throw new Error('the upstream was asked nothing');
  const qname = bytes.slice(12, message.questionEnd - 4);
  return encodeMessage({
    id: message.id,
    flags: 0x8180,
    questions: [{ ...question, qname }],
    additionals: [opt(1232)],
    ...answer,
  });
}
