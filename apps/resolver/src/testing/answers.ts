import {
  bytesOf,
  concat,
  encodeMessage,
  opt,
  pointerTo,
  type TestMessage,
  type TestRecord,
  uint16,
  wireName,
} from '@weir/dns-wire/testing';
import type { AskedQuery } from './upstream-server.js';

const QNAME = pointerTo(12);

/** The upstream's answer to what it was asked: same id and question, RD RA, OPT. */
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

export function a(address: string, ttl = 300, owner: Uint8Array = QNAME): TestRecord {
  return { owner, type: 1, ttl, rdata: Uint8Array.from(address.split('.').map(Number)) };
}

export function aaaa(hex: string, ttl = 300): TestRecord {
  return { owner: QNAME, type: 28, ttl, rdata: bytesOf(hex) };
}

export function cname(target: string, ttl = 300, owner: Uint8Array = QNAME): TestRecord {
  return { owner, type: 5, ttl, rdata: wireName(target) };
}

export function txt(text: string, ttl = 300): TestRecord {
  return { owner: QNAME, type: 16, ttl, rdata: Uint8Array.of(text.length, ...Buffer.from(text)) };
}

/** An HTTPS record with a priority and a target (RFC 9460 §2.2). */
export function https(priority: number, target: string): TestRecord {
  return { owner: QNAME, type: 65, ttl: 300, rdata: concat(uint16(priority), wireName(target)) };
}
