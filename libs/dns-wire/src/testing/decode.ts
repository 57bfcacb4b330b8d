/** A test oracle for the parsers: decodes a message into objects and throws at the first error. */

export interface DecodedRecord {
  readonly owner: string;
  /** Offset of the record in the message. */
  readonly at: number;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly rdata: Buffer;
  readonly rdataAt: number;
}

export interface DecodedMessage {
  readonly id: number;
  readonly flags: number;
  readonly rcode: number;
  readonly questions: readonly { qname: string; qtype: number; qclass: number }[];
  readonly answers: readonly DecodedRecord[];
  readonly authorities: readonly DecodedRecord[];
  readonly additionals: readonly DecodedRecord[];
  /** Offset after the questions. */
  readonly questionEnd: number;
  /** Bytes after the last record. */
  readonly trailing: number;
  /** The OPT record, when there is one. */
  readonly opt: DecodedRecord | undefined;
  /** INFO-CODEs of the Extended DNS Errors. */
  readonly ede: readonly number[];
}

export interface DecodeOptions {
  /** Default true. False: a pointer ends a name and is not followed. */
  readonly followPointers?: boolean;
}

/** Reads names label by label. Case is kept; a byte of a label that is no letter, digit, `-` or `_` becomes `\ddd`. */
export function decodeName(
  buffer: Buffer,
  offset: number,
  { followPointers = true }: DecodeOptions = {},
): { name: string; end: number } {
  const labels: string[] = [];
  let at = offset;
  let end = -1;
  let size = 0;
  let barrier = offset;
  for (let pointers = 0; ;) {
    const length = buffer.readUInt8(at);
    if (length >= 0xc0) {
      if (end < 0) end = at + 2;
      if (!followPointers) {
        if (end > buffer.length) throw new Error('pointer runs over the end');
        return { name: `${labels.join('.')}…`, end };
      }
      at = buffer.readUInt16BE(at) & 0x3fff;
      if (at >= barrier || ++pointers > 127) throw new Error('pointer does not point back');
      barrier = at;
      continue;
    }
    if (length > 63) throw new Error('label type');
    size += length + 1;
    if (size > 255) throw new Error('name too long');
    if (at + 1 + length > buffer.length) throw new Error('label runs over the end');
    const label = buffer.subarray(at + 1, at + 1 + length).toString('latin1');
    at += length + 1;
    if (length === 0) break;
    labels.push(
      label.replaceAll(/[^\w-]/g, (c) => `\\${c.charCodeAt(0).toString().padStart(3, '0')}`),
    );
  }
  return { name: labels.join('.') || '.', end: end < 0 ? at : end };
}

export function decodeMessage(bytes: Uint8Array, options?: DecodeOptions): DecodedMessage {
  const buffer = Buffer.from(bytes);
  let at = 12;
  const questions = Array.from({ length: buffer.readUInt16BE(4) }, () => {
    const { name, end } = decodeName(buffer, at, options);
    at = end + 4;
    return { qname: name, qtype: buffer.readUInt16BE(end), qclass: buffer.readUInt16BE(end + 2) };
  });
  const questionEnd = at;
  const record = (): DecodedRecord => {
    const start = at;
    const { name, end } = decodeName(buffer, at, options);
    const rdataAt = end + 10;
    at = rdataAt + buffer.readUInt16BE(end + 8);
    if (at > buffer.length) throw new Error('rdata runs over the end');
    return {
      owner: name,
      at: start,
      type: buffer.readUInt16BE(end),
      class: buffer.readUInt16BE(end + 2),
      ttl: buffer.readUInt32BE(end + 4),
      rdata: buffer.subarray(rdataAt, at),
      rdataAt,
    };
  };
  const section = (countAt: number) => Array.from({ length: buffer.readUInt16BE(countAt) }, record);
  const [answers, authorities, additionals] = [section(6), section(8), section(10)] as const;
  const opts = additionals.filter(({ type }) => type === 41);
  if (opts.length > 1) throw new Error('two OPT records');
  const [opt] = opts;
  const flags = buffer.readUInt16BE(2);
  return {
    id: buffer.readUInt16BE(0),
    flags,
    rcode: (flags & 15) | (((opt?.ttl ?? 0) >>> 24) << 4),
    questions,
    answers,
    authorities,
    additionals,
    questionEnd,
    trailing: buffer.length - at,
    opt,
    ede: opt === undefined ? [] : decodeEde(opt.rdata),
  };
}

/** Options of an OPT record as code and data. @throws when they do not fill it exactly. */
export function decodeOptions(rdata: Buffer): { code: number; data: Buffer }[] {
  const options: { code: number; data: Buffer }[] = [];
  for (let at = 0; at < rdata.length;) {
    const size = rdata.readUInt16BE(at + 2);
    if (at + 4 + size > rdata.length) throw new Error('option runs over the end');
    options.push({ code: rdata.readUInt16BE(at), data: rdata.subarray(at + 4, at + 4 + size) });
    at += 4 + size;
  }
  return options;
}

function decodeEde(rdata: Buffer): number[] {
  return decodeOptions(rdata)
    .filter(({ code, data }) => code === 15 && data.length >= 2)
    .map(({ data }) => data.readUInt16BE(0));
}
