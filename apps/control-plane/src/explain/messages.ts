import {
  ARCOUNT_OFFSET,
  CLASS_IN,
  EDNS_UDP_BYTES,
  Ede,
  expandName,
  Flag,
  FLAGS_OFFSET,
  formatName,
  HEADER_BYTES,
  OPT_FIXED_BYTES,
  OPTION_EDE,
  OPTION_HEADER_BYTES,
  parseResponse,
  QDCOUNT_OFFSET,
  QUESTION_FIXED_BYTES,
  Rcode,
  readUint16,
  readUint32,
  RECORD_FIXED_BYTES,
  Response,
  skipName,
  Type,
  writeUint16,
} from '@weir/dns-wire';
import { formatIpv4, formatIpv6 } from '../resources/networks/addresses/addresses.js';
import { formatType } from './record-types.js';
import type { DnsAnswerDto } from './explain.dto.js';

/** A query with EDNS, as a stub resolver sends it. @param name a wire name. */
export function encodeQuery(name: Uint8Array, qtype: number): Uint8Array {
  const question = HEADER_BYTES + name.length;
  const bytes = new Uint8Array(question + QUESTION_FIXED_BYTES + OPT_FIXED_BYTES);
  writeUint16(bytes, FLAGS_OFFSET, Flag.rd);
  writeUint16(bytes, QDCOUNT_OFFSET, 1);
  writeUint16(bytes, ARCOUNT_OFFSET, 1);
  bytes.set(name, HEADER_BYTES);
  writeUint16(bytes, question, qtype);
  writeUint16(bytes, question + 2, CLASS_IN);
  writeUint16(bytes, question + 5, Type.opt);
  writeUint16(bytes, question + 7, EDNS_UDP_BYTES);
  return bytes;
}

const RCODES = new Map<number, string>(
  Object.entries(Rcode).map(([name, code]) => [code, name.toUpperCase()]),
);

/** What an answer of ours says. @throws Error when it is malformed. */
export function readAnswer(bytes: Uint8Array, length: number): DnsAnswerDto {
  const response = new Response();
  if (!parseResponse(bytes, length, response)) throw new Error('an answer of ours is malformed');
  const records = Array.from({ length: response.answerCount }, (_, i) => {
    const fixed = (response.ttlOffsets[i] ?? 0) - 4;
    const type = readUint16(bytes, fixed);
    const at = fixed + RECORD_FIXED_BYTES;
    return {
      type: formatType(type),
      ttl: readUint32(bytes, fixed + 4),
      data: formatRdata(bytes, type, at, at + readUint16(bytes, fixed + 8)),
    };
  });
  const text = response.ede === Ede.none ? '' : readEdeText(bytes, response.recordsEnd, length);
  return {
    rcode: RCODES.get(response.rcode) ?? `RCODE${response.rcode}`,
    records,
    ede: response.ede === Ede.none ? null : { code: response.ede, text },
  };
}

/** The EXTRA-TEXT of the Extended DNS Error in the OPT record at `opt` (RFC 8914 §2). */
function readEdeText(bytes: Uint8Array, opt: number, length: number): string {
  for (let at = opt + OPT_FIXED_BYTES; at < length;) {
    const data = at + OPTION_HEADER_BYTES;
    const end = data + readUint16(bytes, at + 2);
    if (readUint16(bytes, at) === OPTION_EDE) {
      return new TextDecoder().decode(bytes.subarray(data + 2, end));
    }
    at = end;
  }
  return '';
}

/** In presentation format; of types that no resolver makes records of as RFC 3597 §5 has it. */
function formatRdata(bytes: Uint8Array, type: number, at: number, end: number): string {
  const rdata = bytes.subarray(at, end);
  const word = (i: number): number => readUint32(bytes, at + i * 4);
  switch (type) {
    case Type.a:
      return formatIpv4(word(0));
    case Type.aaaa:
      return formatIpv6([word(0), word(1), word(2), word(3)]);
    case Type.cname:
    case Type.ns:
      return nameAt(bytes, at, end);
    case Type.soa: {
      const numbers = Array.from({ length: 5 }, (_, i) => readUint32(bytes, end - 20 + i * 4));
      const mailbox = nameAt(bytes, skipName(bytes, end, at), end);
      return [nameAt(bytes, at, end), mailbox, ...numbers].join(' ');
    }
    case Type.hinfo: {
      const [cpu] = rdata;
      const strings = [rdata.subarray(1, 1 + cpu), rdata.subarray(2 + cpu)];
      return strings.map((one) => JSON.stringify(new TextDecoder().decode(one))).join(' ');
    }
    default:
      return `\\# ${rdata.length} ${Buffer.from(rdata).toString('hex')}`;
  }
}

function nameAt(bytes: Uint8Array, at: number, end: number): string {
  const name = new Uint8Array(256);
  expandName(bytes, end, at, name);
  return formatName(name, 0);
}
