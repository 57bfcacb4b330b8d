import {
  decodeMessage,
  type DecodedMessage,
  type DecodeOptions,
  hexOf,
} from '@weir/dns-wire/testing';

const QR = 0x8000;
const OPCODE = 0x7800;
const HEADER_BYTES = 12;
/**
 * Names in records may be invalid: records of upstreams are passed on as they are, and records of queries are skipped.
 */
const AS_THEY_ARE = { followPointers: false };

/** Describes what is wrong with an answer to these bytes; null when it is correct. Simple and slow. */
export function faultOf(
  query: Uint8Array | undefined,
  answer: Uint8Array,
  transport: 'udp' | 'tcp',
): string | null {
  const fault = query === undefined ? 'an answer without a query' : check(query, answer, transport);
  if (fault === null) return null;
  return `${fault}\n  ${transport} query  ${hexOf(query ?? new Uint8Array(0))}\n  answer ${hexOf(answer)}`;
}

function check(query: Uint8Array, answer: Uint8Array, transport: 'udp' | 'tcp'): string | null {
  if (query.length < HEADER_BYTES) return 'an answer to less than a header';
  const asked = Buffer.from(query).readUInt16BE(2);
  if ((asked & QR) !== 0) return 'an answer to a reply';
  const message = tryDecode(answer, AS_THEY_ARE);
  if (message === null || message.trailing > 0) return 'the answer is malformed';
  if ((message.flags & QR) === 0) return 'the answer is not a reply';
  if ((message.flags & OPCODE) !== (asked & OPCODE)) return 'another opcode';
  if (message.questions.length > 1) return 'several questions';
  const question = answer.slice(HEADER_BYTES, message.questionEnd);
  if (hexOf(question) !== hexOf(query.slice(HEADER_BYTES, message.questionEnd))) {
    return 'another question, or another case';
  }
  const decoded = tryDecode(query, AS_THEY_ARE);
  if (message.opt !== undefined && decoded !== null && decoded.opt === undefined) {
    return 'OPT for a client without EDNS';
  }
  const limit = transport === 'tcp' ? 65_535 : Math.max(512, decoded?.opt?.class ?? 512);
  return answer.length > limit ? `larger than ${limit} bytes` : null;
}

function tryDecode(bytes: Uint8Array, options?: DecodeOptions): DecodedMessage | null {
  try {
    return decodeMessage(bytes, options);
  } catch {
    return null; // the decoder throws for invalid messages
  }
}
