import { createSocket, type Socket } from 'node:dgram';

/** The part of DNS that the tools need: one question, answers of type A (RFC 1035 §4). */

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_OPT = 41;
const CLASS_IN = 1;
const FLAG_RD = 0x0100;
const FLAGS_RESPONSE = 0x8180;
const RCODE_MASK = 0x000f;
/** A compression pointer to the name of the question. */
const POINTER_TO_QNAME = 0xc00c;
const NO_OPTIONS = Buffer.alloc(0);

/** A query, by default for the IPv4 addresses of the name. */
export function encodeQuery(id: number, qname: string, qtype = TYPE_A): Buffer {
  const labels = qname.split('.').map((label) => {
    return Buffer.concat([Buffer.of(label.length), Buffer.from(label, 'latin1')]);
  });
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(FLAG_RD, 2);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, ...labels, Buffer.of(0, 0, qtype, 0, CLASS_IN)]);
}

/** The query with an OPT record at its end (RFC 6891 §6.1.2), and EDNS options in it. */
export function withEdns(query: Buffer, udpBytes: number, options: Buffer = NO_OPTIONS): Buffer {
  const record = Buffer.alloc(11);
  record.writeUInt8(TYPE_OPT, 2);
  record.writeUInt16BE(udpBytes, 3);
  record.writeUInt16BE(options.length, 9);
  const packet = Buffer.concat([query, record, options]);
  packet.writeUInt16BE(1, 10);
  return packet;
}

/** The answer of an upstream: every name has one A record and no others. */
export function answerQuery(query: Buffer, address: readonly number[], ttlSeconds: number): Buffer {
  const questionEnd = skipName(query, HEADER_BYTES) + 4;
  const answers = query.readUInt16BE(questionEnd - 4) === TYPE_A ? 1 : 0;
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(FLAGS_RESPONSE, 2);
  head.writeUInt16BE(answers, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  if (answers === 0) return head;
  const record = Buffer.alloc(12);
  record.writeUInt16BE(POINTER_TO_QNAME, 0);
  record.writeUInt16BE(TYPE_A, 2);
  record.writeUInt16BE(CLASS_IN, 4);
  record.writeUInt32BE(ttlSeconds, 6);
  record.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, record, Buffer.from(address)]);
}

/** The first address of an answer, `empty` when there is none, or `rcode <n>`. */
export function readAnswer(answer: Buffer): string {
  const rcode = answer.readUInt16BE(2) & RCODE_MASK;
  if (rcode !== 0) return `rcode ${rcode}`;
  if (answer.readUInt16BE(6) === 0) return 'empty';
  const record = skipName(answer, skipName(answer, HEADER_BYTES) + 4);
  if (answer.readUInt16BE(record) !== TYPE_A) return `type ${answer.readUInt16BE(record)}`;
  return answer.subarray(record + 10, record + 14).join('.');
}

function skipName(bytes: Buffer, offset: number): number {
  let at = offset;
  for (let length = bytes.readUInt8(at); length !== 0; length = bytes.readUInt8(at)) {
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
  return at + 1;
}

/** The upstream gives this address for every name, so names that are not blocked have it. */
export const UPSTREAM_ADDRESS = '203.0.113.80';
const TTL_SECONDS = 60;

/** A DNS server that stands for the internet, on a free port. */
export async function startUpstream(): Promise<Socket> {
  const address = UPSTREAM_ADDRESS.split('.').map(Number);
  const socket = createSocket('udp4');
  socket.on('message', (query, sender) => {
    socket.send(answerQuery(query, address, TTL_SECONDS), sender.port, sender.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).bind(0, '127.0.0.1', resolve);
  });
  return socket;
}
