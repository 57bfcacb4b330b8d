import {
  bytesOf,
  concat,
  pointerTo,
  type TestRecord,
  uint16,
  wireName,
} from '@weir/dns-wire/testing';

const QNAME = pointerTo(12);

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
