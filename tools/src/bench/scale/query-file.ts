/**
 * Datagrams for the load generator, one after the other: length and offset of the message id as 16 bits each,
 * little-endian; then the bytes.
 */
export const RECORD_HEADER_BYTES = 4;

/** A client as a load balancer names it. The address is in the order of the network: one word, or four for IPv6. */
export interface LoadClient {
  readonly family: 4 | 6;
  readonly words: readonly number[];
  readonly port: number;
}

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** Version 2, PROXY. */
const VERSION_COMMAND = 0x21;
/** UDP over IPv4 and over IPv6. */
const FAMILY = { 4: 0x12, 6: 0x22 } as const;
const FIXED_BYTES = 16;
const PORTS_BYTES = 4;
const DNS_PORT = 53;
const DNS_HEADER_BYTES = 12;
const FLAGS_RD = 0x0100;
const TYPE_A = 1;
const CLASS_IN = 1;

/** Collects datagrams: a PROXY header (version 2) with the client, then a query for the A record of a name. */
export class QueryFile {
  private bytes = Buffer.alloc(2 ** 20);
  private end = 0;
  private records = 0;

  /** The records so far. */
  get content(): Uint8Array {
    return this.bytes.subarray(0, this.end);
  }

  get count(): number {
    return this.records;
  }

  /** @param name a wire name */
  add(client: LoadClient, name: Uint8Array): void {
    const header = FIXED_BYTES + 2 * client.words.length * 4 + PORTS_BYTES;
    const length = header + DNS_HEADER_BYTES + name.length + 4;
    this.reserve(RECORD_HEADER_BYTES + length);
    const { bytes } = this;
    bytes.writeUInt16LE(length, this.end);
    bytes.writeUInt16LE(header, this.end + 2);
    const at = writeProxyHeader(bytes, this.end + RECORD_HEADER_BYTES, client);
    this.end = writeQuery(bytes, at, name);
    this.records++;
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.bytes.length) return;
    const larger = Buffer.alloc(this.bytes.length * 2);
    larger.set(this.bytes);
    this.bytes = larger;
  }
}

function writeProxyHeader(
  bytes: Buffer,
  start: number,
  { family, words, port }: LoadClient,
): number {
  bytes.set(SIGNATURE, start);
  let at = start + SIGNATURE.length;
  bytes[at++] = VERSION_COMMAND;
  bytes[at++] = FAMILY[family];
  at = bytes.writeUInt16BE(2 * words.length * 4 + PORTS_BYTES, at);
  for (const word of words) at = bytes.writeUInt32BE(word, at);
  // The address that was asked: any of the same family.
  for (const word of words) at = bytes.writeUInt32BE(word, at);
  at = bytes.writeUInt16BE(port, at);
  return bytes.writeUInt16BE(DNS_PORT, at);
}

/** The id is 0: the sender writes it. */
function writeQuery(bytes: Buffer, start: number, name: Uint8Array): number {
  bytes.fill(0, start, start + DNS_HEADER_BYTES);
  bytes.writeUInt16BE(FLAGS_RD, start + 2);
  bytes.writeUInt16BE(1, start + 4);
  bytes.set(name, start + DNS_HEADER_BYTES);
  const at = bytes.writeUInt16BE(TYPE_A, start + DNS_HEADER_BYTES + name.length);
  return bytes.writeUInt16BE(CLASS_IN, at);
}
