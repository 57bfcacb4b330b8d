import { bytesOf, concat, uint16 } from '@weir/dns-wire/testing';
import { crc32c } from '../proxy-header.js';

const SIGNATURE = bytesOf('0d0a0d0a000d0a515549540a');

export interface TestProxyHeader {
  /** Address in hexadecimal, 8 or 32 digits. Without one the header names no client. */
  readonly source?: string;
  readonly port?: number;
  /** Version and command; 0x21: PROXY. */
  readonly command?: number;
  /** Family and transport, if not those of the source. */
  readonly family?: number;
  /** The bytes after the addresses. */
  readonly tlvs?: Uint8Array;
}

/** A PROXY protocol header, version 2. */
export function proxyHeader(header: TestProxyHeader = {}): Uint8Array {
  const { source = '', port = 4242, command = 0x21, tlvs = new Uint8Array(0) } = header;
  const address = bytesOf(source);
  const family = header.family ?? { 0: 0, 4: 0x12, 16: 0x22 }[address.length];
  if (family === undefined) throw new RangeError('no such family');
  const addresses = address.length === 0 ? [] : concat(address, address, uint16(port), uint16(53));
  const rest = concat(addresses, tlvs);
  return concat(SIGNATURE, [command, family], uint16(rest.length), rest);
}

export function tlv(type: number, value: readonly number[]): Uint8Array {
  return concat([type], uint16(value.length), value);
}

/** The header with a checksum as its last TLV. */
export function checkedProxyHeader(header: TestProxyHeader): Uint8Array {
  const tlvs = concat(header.tlvs ?? [], tlv(3, [0, 0, 0, 0]));
  const bytes = Buffer.from(proxyHeader({ ...header, tlvs }));
  const at = bytes.length - 4;
  bytes.writeUInt32BE(crc32c(bytes, bytes.length, at), at);
  return bytes;
}
