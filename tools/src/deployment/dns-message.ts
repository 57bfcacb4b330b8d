import { toWireName } from '@weir/dns-name';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** The part of DNS that the tools need: one question, answers of type A (RFC 1035 §4). */

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_OPT = 41;
const CLASS_IN = 1;
const FLAG_RD = 0x0100;
export const FLAGS_RESPONSE = 0x8180;
const RCODE_MASK = 0x000f;
/** A compression pointer to the name at an offset of the packet (RFC 1035 §4.1.4). */
export function pointer(offset: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(0xc000 | offset);
  return bytes;
}
/** The owner of a record: the queried name. */
export const QNAME = pointer(HEADER_BYTES);
const TTL_SECONDS = 60;
const PROXY_SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const PROXY = 0x21;

/** A query, by default for the IPv4 addresses of the name. */
export function encodeQuery(id: number, qname: string, qtype = TYPE_A): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(FLAG_RD, 2);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, toWireName(qname), Buffer.of(0, qtype, 0, CLASS_IN)]);
}

/** The query with an OPT record at its end (RFC 6891 §6.1.2), and EDNS options in it. */
export function withEdns(query: Buffer, udpBytes: number, options = Buffer.alloc(0)): Buffer {
  const record = Buffer.alloc(11);
  record.writeUInt8(TYPE_OPT, 2);
  record.writeUInt16BE(udpBytes, 3);
  record.writeUInt16BE(options.length, 9);
  const packet = Buffer.concat([query, record, options]);
  packet.writeUInt16BE(1, 10);
  return packet;
}

/** The upstream gives this address for every name, so names that are not blocked have it. */
export const UPSTREAM_ADDRESS = '203.0.113.80';
const ADDRESS_RECORD = record(QNAME, TYPE_A, Buffer.from(UPSTREAM_ADDRESS.split('.').map(Number)));

/** The answer of an upstream: every name has one A record and no others. */
export function answerQuery(query: Buffer): Buffer {
  const isAddress = query.readUInt16BE(questionEnd(query) - 4) === TYPE_A;
  return response(query, FLAGS_RESPONSE, isAddress ? [ADDRESS_RECORD] : []);
}

/** A response to a query with one question. */
export function response(
  query: Buffer,
  flags: number,
  answers: readonly Buffer[] = [],
  authorities: readonly Buffer[] = [],
): Buffer {
  const head = Buffer.from(query.subarray(0, questionEnd(query)));
  head.writeUInt16BE(flags, 2);
  head.writeUInt16BE(answers.length, 6);
  head.writeUInt16BE(authorities.length, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...answers, ...authorities]);
}

/** A record of a minute. @param owner a wire name, or a pointer to one */
export function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(CLASS_IN, 2);
  fixed.writeUInt32BE(TTL_SECONDS, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

/** Where the only question of a packet ends. */
export function questionEnd(packet: Buffer): number {
  return skipName(packet, HEADER_BYTES) + 4;
}

/** The first address of an answer, `empty` when there is none, or `rcode <n>`. */
export function readAnswer(answer: Buffer): string {
  const rcode = answer.readUInt16BE(2) & RCODE_MASK;
  if (rcode !== 0) return `rcode ${rcode}`;
  if (answer.readUInt16BE(6) === 0) return 'empty';
  const start = skipName(answer, questionEnd(answer));
  if (answer.readUInt16BE(start) !== TYPE_A) return `type ${answer.readUInt16BE(start)}`;
  return answer.subarray(start + 10, start + 14).join('.');
}

function skipName(bytes: Buffer, offset: number): number {
  let at = offset;
  for (let length = bytes.readUInt8(at); length !== 0; length = bytes.readUInt8(at)) {
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
  return at + 1;
}

/**
 * The header of the PROXY protocol, version 2, by which a load balancer names a client.
 * @param source 4 or 16 bytes. The address that was asked is any of the same family.
 * @throws RangeError without a source
 */
export function proxyHeader(
  source: Uint8Array | null,
  port: number,
  kind: 'stream' | 'datagram' = 'datagram',
): Buffer {
  if (source === null) throw new RangeError('no address');
  const family = (source.length === 4 ? 0x10 : 0x20) | (kind === 'stream' ? 1 : 2);
  const head = Buffer.of(PROXY, family, 0, 2 * source.length + 4);
  const ports = Buffer.of(port >>> 8, port & 0xff, 0, 53);
  return Buffer.concat([PROXY_SIGNATURE, head, source, source, ports]);
}

/** A DNS server that stands for the internet, on a free port. */
export async function startUpstream(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', (query, sender) => {
    socket.send(answerQuery(query), sender.port, sender.address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return socket;
}
