import { answerQuery, UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import { ZONES } from '../shared/target.js';

/** What the upstream sends for a query: at once, late, over TCP only, or never. */
export type Answer =
  | { readonly kind: 'now' | 'late'; readonly packet: Buffer }
  | { readonly kind: 'tcp only'; readonly packet: () => Buffer; readonly truncated: Buffer }
  | { readonly kind: 'never' };

const HEADER_BYTES = 12;
const QUESTION_TAIL_BYTES = 4;
const FLAGS_NXDOMAIN = 0x8183;
const FLAGS_TRUNCATED = 0x8380;
const FLAGS_RESPONSE = 0x8180;
const [TYPE_A, TYPE_CNAME, TYPE_SOA, TYPE_TXT] = [1, 5, 6, 16];
const CLASS_IN = 1;
const TTL_SECONDS = 60;
const POINTER = 0xc000;
const ADDRESS = UPSTREAM_ADDRESS.split('.').map(Number);
const CHAIN_LENGTH = 40;
const HUGE_RECORDS = 240;
const HUGE_TEXT = Buffer.concat([Buffer.of(240), Buffer.alloc(240, 'x')]);
const LEVELS = 3;

/** The answer to a query of a resolver. */
export function answerFor(query: Buffer): Answer {
  const { zone, questionEnd } = readQuestion(query);
  switch (zone) {
    case ZONES.dead:
      return { kind: 'never' };
    case ZONES.slow:
      return { kind: 'late', packet: answerQuery(query, ADDRESS, TTL_SECONDS) };
    case ZONES.absent:
      return { kind: 'now', packet: absence(query, questionEnd) };
    case ZONES.chain:
      return { kind: 'now', packet: chain(query, questionEnd) };
    case ZONES.huge:
      return {
        kind: 'tcp only',
        packet: () => texts(query, questionEnd),
        truncated: head(query, questionEnd, FLAGS_TRUNCATED, {}),
      };
    default:
      return { kind: 'now', packet: answerQuery(query, ADDRESS, TTL_SECONDS) };
  }
}

/** The last three labels of the name in lower case, and where the question ends. */
function readQuestion(query: Buffer): { readonly zone: string; readonly questionEnd: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length !== 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { zone: labels.slice(-LEVELS).join('.'), questionEnd: at + 1 + QUESTION_TAIL_BYTES };
}

function head(
  query: Buffer,
  questionEnd: number,
  flags: number,
  { answers = 0, authorities = 0 },
): Buffer {
  const packet = Buffer.from(query.subarray(0, questionEnd));
  packet.writeUInt16BE(flags, 2);
  packet.writeUInt16BE(answers, 6);
  packet.writeUInt16BE(authorities, 8);
  packet.writeUInt16BE(0, 10);
  return packet;
}

/** A record whose owner is at an offset of the packet (RFC 1035 §4.1.4). */
function record(ownerOffset: number, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(POINTER | ownerOffset, 0);
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(CLASS_IN, 4);
  fixed.writeUInt32BE(TTL_SECONDS, 6);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}

function absence(query: Buffer, questionEnd: number): Buffer {
  const data = Buffer.alloc(22);
  data.writeUInt32BE(TTL_SECONDS, 18);
  const soa = record(parentOffset(query), TYPE_SOA, data);
  return Buffer.concat([head(query, questionEnd, FLAGS_NXDOMAIN, { authorities: 1 }), soa]);
}

function chain(query: Buffer, questionEnd: number): Buffer {
  const packets = [head(query, questionEnd, FLAGS_RESPONSE, { answers: CHAIN_LENGTH + 1 })];
  let owner = HEADER_BYTES;
  let end = questionEnd;
  for (let i = 0; i < CHAIN_LENGTH; i++) {
    const label = `c${i}`;
    const target = Buffer.concat([
      Buffer.of(label.length),
      Buffer.from(label),
      pointer(parentOffset(query)),
    ]);
    packets.push(record(owner, TYPE_CNAME, target));
    owner = end + HEADER_BYTES;
    end = owner + target.length;
  }
  packets.push(record(owner, TYPE_A, Buffer.from(ADDRESS)));
  return Buffer.concat(packets);
}

function texts(query: Buffer, questionEnd: number): Buffer {
  const text = record(HEADER_BYTES, TYPE_TXT, HUGE_TEXT);
  const records = Array.from({ length: HUGE_RECORDS }, () => text);
  const first = head(query, questionEnd, FLAGS_RESPONSE, { answers: HUGE_RECORDS });
  return Buffer.concat([first, ...records]);
}

/** Offset of the name without its first label. */
function parentOffset(query: Buffer): number {
  return HEADER_BYTES + 1 + query.readUInt8(HEADER_BYTES);
}

function pointer(offset: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(POINTER | offset);
  return bytes;
}
