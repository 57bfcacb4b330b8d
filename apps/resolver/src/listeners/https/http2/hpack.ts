import { decodeHuffman } from './huffman.js';

/** RFC 7541 appendix A, from index 1. A name without a value has the empty one. */
const STATIC_TABLE: readonly (readonly [name: string, value: string])[] = [
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https',
  ':status=200|:status=204|:status=206|:status=304|:status=400|:status=404|:status=500',
  'accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept',
  'access-control-allow-origin|age|allow|authorization|cache-control|content-disposition',
  'content-encoding|content-language|content-length|content-location|content-range|content-type',
  'cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range',
  'if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate',
  'proxy-authorization|range|referer|refresh|retry-after|server|set-cookie',
  'strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate',
]
  .flatMap((line) => line.split('|'))
  .map((entry) => {
    const [name, value = ''] = entry.split('=');
    return [name, value] as const;
  });

/** Largest dynamic table: the default, of which clients are told nothing else (RFC 9113 §6.5.2). */
export const MAX_TABLE_BYTES = 4_096;
/** Of each field beside its name and value (RFC 7541 §4.1). */
const ENTRY_BYTES = 32;
/** Largest header block, compressed. */
export const MAX_BLOCK_BYTES = 8_192;
/** Bytes that an integer has after its prefix. More would say a number that no block has room for. */
const MAX_INTEGER_BYTES = 3;

/** Receives the fields of a header block in their order. */
export interface FieldSink {
  field(name: string, value: string): void;
}

/** Decodes the header blocks of one connection, in their order (RFC 7541). */
export class HpackDecoder {
  /** The dynamic table. The newest entry is the last. */
  private readonly table: (readonly [name: string, value: string])[] = [];
  private tableBytes = 0;
  private maxTableBytes = MAX_TABLE_BYTES;
  private block: Buffer = Buffer.alloc(0);
  private at = 0;
  private isValid = true;

  /** @returns false when the block is no HPACK: the connection cannot go on (RFC 9113 §4.3) */
  decode(block: Buffer, sink: FieldSink): boolean {
    this.block = block;
    this.at = 0;
    this.isValid = true;
    while (this.at < block.length && (block[this.at] & 0xe0) === 0x20) this.resize(this.integer(5));
    while (this.isValid && this.at < block.length) this.readField(sink);
    return this.isValid;
  }

  private readField(sink: FieldSink): void {
    const first = this.block[this.at];
    if (first >= 0x80) {
      const entry = this.entry(this.integer(7));
      if (entry !== undefined) sink.field(entry[0], entry[1]);
      return;
    }
    // A new size is allowed at the start of a block only (RFC 7541 §4.2).
    if ((first & 0xe0) === 0x20) return this.fail();
    const isAdded = first >= 0x40;
    const index = this.integer(isAdded ? 6 : 4);
    const name = index === 0 ? this.text() : (this.entry(index)?.[0] ?? '');
    const value = this.text();
    if (!this.isValid) return;
    if (isAdded) this.add(name, value);
    sink.field(name, value);
  }

  private entry(index: number): readonly [name: string, value: string] | undefined {
    const entry =
      index <= STATIC_TABLE.length
        ? STATIC_TABLE[index - 1]
        : this.table[this.table.length - index + STATIC_TABLE.length];
    return entry ?? this.fail();
  }

  private add(name: string, value: string): void {
    const bytes = name.length + value.length + ENTRY_BYTES;
    this.evict(this.maxTableBytes - bytes);
    // One that is larger than the table empties it (RFC 7541 §4.4).
    if (bytes > this.maxTableBytes) return;
    this.table.push([name, value]);
    this.tableBytes += bytes;
  }

  private resize(bytes: number): void {
    if (bytes > MAX_TABLE_BYTES) return this.fail();
    this.maxTableBytes = bytes;
    this.evict(bytes);
  }

  private evict(maxBytes: number): void {
    let evicted = 0;
    for (; evicted < this.table.length && this.tableBytes > maxBytes; evicted++) {
      const [name, value] = this.table[evicted];
      this.tableBytes -= name.length + value.length + ENTRY_BYTES;
    }
    if (evicted > 0) this.table.splice(0, evicted);
  }

  /** RFC 7541 §5.1. */
  private integer(prefixBits: number): number {
    const { block } = this;
    const most = (1 << prefixBits) - 1;
    let value = block[this.at++] & most;
    if (value < most) return value;
    for (let read = 0; read < MAX_INTEGER_BYTES && this.at < block.length; read++) {
      const byte = block[this.at++];
      value += (byte & 0x7f) << (7 * read);
      if (byte < 0x80) return value;
    }
    this.fail();
    return 0;
  }

  /** RFC 7541 §5.2. Bytes become the characters of Latin-1. */
  private text(): string {
    const { block } = this;
    if (this.at >= block.length) return this.fail() ?? '';
    const isHuffman = block[this.at] >= 0x80;
    const length = this.integer(7);
    const start = this.at;
    const end = start + length;
    if (end > block.length) return this.fail() ?? '';
    this.at = end;
    if (!isHuffman) return block.toString('latin1', start, end);
    const decoded = decodeHuffman(block, start, end, scratch);
    return decoded < 0 ? (this.fail() ?? '') : scratch.toString('latin1', 0, decoded);
  }

  private fail(): undefined {
    this.isValid = false;
    this.at = this.block.length;
  }
}

/** The names of the static table that fit the prefix of a literal, and their indexes. */
const NAME_INDEXES = new Map(
  STATIC_TABLE.map(([name], entry) => [name, entry + 1] as const).reverse(),
);
/** Fields that are a single index. */
const FIELD_INDEXES = new Map(STATIC_TABLE.map((field, entry) => [field.join('='), entry + 1]));
const LONGEST_PREFIX = 15;

/** Says at the start of a header block that the encoder has no dynamic table (RFC 7541 §6.3). */
export const NO_TABLE = 0x20;

/**
 * Encodes short fields as they are: literals that enter no table (RFC 7541 §6.2.2), with the names of the static table.
 * @param target has room for all of it
 * @param start in `target`
 * @returns the end of the header block
 */
export function encodeHpack(
  status: number,
  headers: Readonly<Record<string, string>>,
  target: Buffer,
  start = 0,
): number {
  let end = encodeField(':status', String(status), target, start);
  for (const name in headers) end = encodeField(name, headers[name], target, end);
  return end;
}

function encodeField(name: string, value: string, target: Buffer, start: number): number {
  let end = start;
  const whole = name === ':status' ? FIELD_INDEXES.get(`:status=${value}`) : undefined;
  if (whole !== undefined) {
    target[end++] = 0x80 | whole;
    return end;
  }
  const index = NAME_INDEXES.get(name);
  if (index === undefined) throw new Error(`not in the static table: ${name}`);
  if (index < LONGEST_PREFIX) target[end++] = index;
  else {
    target[end++] = LONGEST_PREFIX;
    target[end++] = index - LONGEST_PREFIX;
  }
  target[end++] = value.length;
  return end + target.write(value, end, 'latin1');
}

/** Room for the longest string of a block: a code has five bits or more. */
const scratch = Buffer.allocUnsafeSlow(Math.ceil((MAX_BLOCK_BYTES * 8) / 5));
