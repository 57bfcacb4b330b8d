/** Messages for tests, encoded in a simple and slow way. */

export interface TestRecord {
  readonly owner: Uint8Array;
  readonly type: number;
  readonly class?: number;
  readonly ttl?: number;
  readonly rdata?: Uint8Array;
}

export interface TestQuestion {
  readonly qname: Uint8Array;
  readonly qtype: number;
  readonly qclass?: number;
}

export interface TestMessage {
  readonly id?: number;
  readonly flags?: number;
  readonly questions?: readonly TestQuestion[];
  readonly answers?: readonly TestRecord[];
  readonly authorities?: readonly TestRecord[];
  readonly additionals?: readonly TestRecord[];
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(/\s+/g, ''), 'hex'));
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function uint16(value: number): number[] {
  return [(value >>> 8) & 0xff, value & 0xff];
}

export function concat(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Wire name of a presentation name without escapes; `.` is the root. */
export function wireName(presentationName: string): Uint8Array {
  const labels = presentationName.split('.').filter((label) => label !== '');
  return concat(...labels.map((label) => [label.length, ...Buffer.from(label, 'latin1')]), [0]);
}

/** Presentation name of the uncompressed wire name at `offset`. */
export function presentationName(bytes: Uint8Array, offset = 0): string {
  const labels: string[] = [];
  for (let at = offset; bytes[at] !== 0; at += bytes[at] + 1) {
    labels.push(Buffer.from(bytes.subarray(at + 1, at + 1 + bytes[at])).toString('latin1'));
  }
  return labels.length === 0 ? '.' : labels.join('.');
}

export function pointerTo(offset: number): Uint8Array {
  return Uint8Array.of(0xc0 | (offset >>> 8), offset & 0xff);
}

/** An OPT record; `ttl` is extended RCODE, version and flags. */
export function opt(udpBytes: number, ttl = 0, options: Uint8Array = new Uint8Array(0)) {
  return { owner: Uint8Array.of(0), type: 41, class: udpBytes, ttl, rdata: options };
}

export function option(code: number, data: readonly number[]): Uint8Array {
  return concat(uint16(code), uint16(data.length), data);
}

export function encodeRecord(record: TestRecord): Uint8Array {
  const rdata = record.rdata ?? new Uint8Array(0);
  const ttl = record.ttl ?? 0;
  return concat(
    record.owner,
    uint16(record.type),
    uint16(record.class ?? 1),
    uint16(ttl >>> 16),
    uint16(ttl & 0xffff),
    uint16(rdata.length),
    rdata,
  );
}

export function encodeMessage(message: TestMessage): Uint8Array {
  const { questions = [], answers = [], authorities = [], additionals = [] } = message;
  return concat(
    uint16(message.id ?? 0),
    uint16(message.flags ?? 0),
    ...[questions, answers, authorities, additionals].map((section) => uint16(section.length)),
    ...questions.map((q) => concat(q.qname, uint16(q.qtype), uint16(q.qclass ?? 1))),
    ...[...answers, ...authorities, ...additionals].map(encodeRecord),
  );
}

/** A query for one name: RD set, EDNS when `udpBytes` is given. */
export function encodeQuery(
  name: string,
  qtype: number,
  options: {
    id?: number;
    flags?: number;
    qclass?: number;
    udpBytes?: number;
    ednsTtl?: number;
  } = {},
): Uint8Array {
  const { id = 0x1234, flags = 0x0100, qclass = 1, udpBytes, ednsTtl = 0 } = options;
  return encodeMessage({
    id,
    flags,
    questions: [{ qname: wireName(name), qtype, qclass }],
    additionals: udpBytes === undefined ? [] : [opt(udpBytes, ednsTtl)],
  });
}
