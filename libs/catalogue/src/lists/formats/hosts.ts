import { isIP } from 'node:net';
import {
  asciiText,
  type EntrySink,
  HASH,
  indexOfByte,
  type LineFormat,
  skipSpace,
  skipWord,
} from './line-format.js';

const DOT = 0x2e;
const MAX_ADDRESS = 64;
/** Addresses of blocked names. A name at any other address is a real host. */
const BLOCKING_ADDRESSES = new Set(['0.0.0.0', '127.0.0.1', '::', '::1', '0']);
/** Names with a dot by which hosts files mean the machine itself. */
const OWN_NAMES = new Set(['localhost.localdomain', 'localhost6.localdomain6', '0.0.0.0']);
const LONGEST_OWN_NAME = 23;
const OWN_NAMES_BEGIN = new Set([0x6c, 0x30]);

/** `0.0.0.0 name name …`; `#` begins a comment. Names without a dot are hosts of the local network. */
export const HOSTS: LineFormat = {
  line(bytes, start, end, entries) {
    const to = indexOfByte(bytes, HASH, start, end);
    const from = skipSpace(bytes, start, to);
    if (from === to) return;
    const addressEnd = skipWord(bytes, from, to);
    const address = asciiText(bytes, from, Math.min(addressEnd, from + MAX_ADDRESS));
    if (BLOCKING_ADDRESSES.has(address)) readHosts(bytes, addressEnd, to, entries);
    else if (isIP(address) !== 0) entries.skipped();
    else entries.invalid('does not begin with an IP address');
  },
};

function readHosts(bytes: Uint8Array, start: number, end: number, entries: EntrySink): void {
  let from = skipSpace(bytes, start, end);
  if (from === end) entries.invalid('has no name behind its address');
  while (from < end) {
    const to = skipWord(bytes, from, end);
    if (isOwnName(bytes, from, to)) entries.skipped();
    else entries.name(bytes, from, to);
    from = skipSpace(bytes, to, end);
  }
}

function isOwnName(bytes: Uint8Array, start: number, end: number): boolean {
  if (indexOfByte(bytes, DOT, start, end) === end) return true;
  if (!OWN_NAMES_BEGIN.has(bytes[start]) || end - start > LONGEST_OWN_NAME) return false;
  return OWN_NAMES.has(asciiText(bytes, start, end));
}
