import {
  answerQuery,
  FLAGS_RESPONSE,
  POINTER,
  questionEnd,
  record,
  response,
  UPSTREAM_ADDRESS,
} from '../deployment/dns-message.js';
import { ZONES } from './target.js';

/** What the upstream sends for a query: at once, late, over TCP only, or never. */
export type Answer =
  | { readonly kind: 'now' | 'late'; readonly packet: Buffer }
  | { readonly kind: 'tcp only'; readonly packet: () => Buffer; readonly truncated: Buffer }
  | { readonly kind: 'never' };

const HEADER_BYTES = 12;
const FLAGS_NXDOMAIN = 0x8183;
const FLAGS_TRUNCATED = 0x8380;
const [TYPE_A, TYPE_CNAME, TYPE_SOA, TYPE_TXT] = [1, 5, 6, 16];
const MINIMUM_TTL_SECONDS = 60;
const ADDRESS = UPSTREAM_ADDRESS.split('.').map(Number);
const CHAIN_LENGTH = 40;
const HUGE_RECORDS = 240;
const HUGE_TEXT = Buffer.concat([Buffer.of(240), Buffer.alloc(240, 'x')]);
const LEVELS = 3;

/** The answer to a query of a resolver. */
export function answerFor(query: Buffer): Answer {
  switch (zoneOf(query)) {
    case ZONES.dead:
      return { kind: 'never' };
    case ZONES.slow:
      return { kind: 'late', packet: answerQuery(query, ADDRESS) };
    case ZONES.absent:
      return { kind: 'now', packet: absence(query) };
    case ZONES.chain:
      return { kind: 'now', packet: chain(query) };
    case ZONES.huge: {
      const text = record(HEADER_BYTES, TYPE_TXT, HUGE_TEXT);
      const answers = Array.from({ length: HUGE_RECORDS }, () => text);
      return {
        kind: 'tcp only',
        packet: () => response(query, FLAGS_RESPONSE, { answers }),
        truncated: response(query, FLAGS_TRUNCATED),
      };
    }
    default:
      return { kind: 'now', packet: answerQuery(query, ADDRESS) };
  }
}

/** The last three labels of the name in lower case. */
function zoneOf(query: Buffer): string {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length !== 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return labels.slice(-LEVELS).join('.');
}

function absence(query: Buffer): Buffer {
  const data = Buffer.alloc(22);
  data.writeUInt32BE(MINIMUM_TTL_SECONDS, 18);
  const authorities = [record(parentOffset(query), TYPE_SOA, data)];
  return response(query, FLAGS_NXDOMAIN, { authorities });
}

function chain(query: Buffer): Buffer {
  const answers: Buffer[] = [];
  let owner = HEADER_BYTES;
  let end = questionEnd(query);
  for (let i = 0; i < CHAIN_LENGTH; i++) {
    const label = Buffer.from(`c${i}`);
    const parent = Buffer.alloc(2);
    parent.writeUInt16BE(POINTER | parentOffset(query));
    const target = Buffer.concat([Buffer.of(label.length), label, parent]);
    answers.push(record(owner, TYPE_CNAME, target));
    owner = end + HEADER_BYTES;
    end = owner + target.length;
  }
  answers.push(record(owner, TYPE_A, Buffer.from(ADDRESS)));
  return response(query, FLAGS_RESPONSE, { answers });
}

/** Offset of the name without its first label. */
function parentOffset(query: Buffer): number {
  return HEADER_BYTES + 1 + query.readUInt8(HEADER_BYTES);
}
