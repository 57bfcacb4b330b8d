import { readUint16 } from './bytes.js';
import { Ede, OPTION_EDE, OPTION_HEADER_BYTES } from './protocol.js';

/** Whether the options fill the rdata of an OPT record exactly: code, length, data (RFC 6891 §6.1.2). */
export function areOptionsSound(bytes: Uint8Array, rdata: number, end: number): boolean {
  let at = rdata;
  while (at + OPTION_HEADER_BYTES <= end) at += OPTION_HEADER_BYTES + readUint16(bytes, at + 2);
  return at === end;
}

/** INFO-CODE of the first EDE option with one (RFC 8914 §2) among sound options, or `Ede.none`. */
export function readEde(bytes: Uint8Array, rdata: number, end: number): number {
  for (let at = rdata; at < end; at += OPTION_HEADER_BYTES + readUint16(bytes, at + 2)) {
    const isEde = readUint16(bytes, at) === OPTION_EDE && readUint16(bytes, at + 2) >= 2;
    if (isEde) return readUint16(bytes, at + OPTION_HEADER_BYTES);
  }
  return Ede.none;
}
