import { isIP } from 'node:net';

/** Receives what a format finds in a line. */
export interface EntrySink {
  /** A name to list: bytes `start` … `end` − 1. */
  name(bytes: Uint8Array, start: number, end: number): void;
  /** A name to list, as text. @param record of a zone: which record lists it, a bit of `ZoneBit` */
  nameText(text: string, record?: number): void;
  /** An entry that lists no name. */
  skipped(): void;
  /** A line that is not an entry of the format. */
  invalid(problem: string): void;
}

/** Reads one list, line by line. */
export interface LineFormat {
  /** A line is bytes `start` … `end` − 1 of `bytes`, perhaps with a carriage return at its end. */
  line(bytes: Uint8Array, start: number, end: number, entries: EntrySink): void;
  /** Is called after the last line. For formats in which an entry may have several lines. */
  end?(entries: EntrySink): void;
  /** Whether the current line removes what it has, instead of adding it. For changes of a zone. */
  readonly isRemoval?: boolean;
}

const SPACE = 0x20;

export const HASH = 0x23;

/** The offset of the first byte that is not space; `end` when there is none. Space: every byte up to 0x20. */
export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] <= SPACE) at++;
  return at;
}

/** The end of the word that begins at `start`. */
export function skipWord(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] > SPACE) at++;
  return at;
}

/** The end of a line without the space at its end. */
export function trimEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && bytes[at - 1] <= SPACE) at--;
  return at;
}

/** The offset of the first such byte, or `end`. */
export function indexOfByte(bytes: Uint8Array, byte: number, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}

/** The bytes as text, one character each: for ASCII words. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at]);
  return text;
}

/** One domain a line; `#` begins a comment. */
export const DOMAINS: LineFormat = {
  line(bytes, start, end, entries) {
    const from = skipSpace(bytes, start, end);
    const to = trimEnd(bytes, from, indexOfByte(bytes, HASH, from, end));
    if (to > from) entries.name(bytes, from, to);
  },
};

const DOT = 0x2e;
const MAX_ADDRESS = 64;
/** Addresses of blocked names. A name at any other address is a real host. */
const BLOCKING_ADDRESSES = new Set(['0.0.0.0', '127.0.0.1', '::', '::1', '0']);
/** Names with a dot by which hosts files mean the machine itself. */
const OWN_NAMES = new Set([
  'localhost.localdomain',
  'localhost4.localdomain4',
  'localhost6.localdomain6',
  '0.0.0.0',
]);
/** With a final dot. */
const LONGEST_OWN_NAME = 24;
/** Of `localhost`, in either case, and of `0.0.0.0`. */
const OWN_NAMES_BEGIN = new Set([0x6c, 0x4c, 0x30]);

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
  return OWN_NAMES.has(asciiText(bytes, start, end).toLowerCase().replace(/\.$/, ''));
}

const [BANG, DOLLAR, ASTERISK, SLASH, BRACKET] = [0x21, 0x24, 0x2a, 0x2f, 0x5b];
const [CARET, PIPE] = [0x5e, 0x7c];
const LONGEST_OPTIONS = 64;
/** Options with which a rule still applies to every request to the name. */
const UNRESTRICTING = new Set(['important', 'all']);

/** `||name^`, which covers a name and everything below it. Rules of any other kind or scope are skipped. */
export const ADBLOCK: LineFormat = {
  line(bytes, start, end, entries) {
    const from = skipSpace(bytes, start, end);
    const to = trimEnd(bytes, from, end);
    if (from === to || isComment(bytes, from, to)) return;
    if (bytes[from] === PIPE && bytes[from + 1] === PIPE) readRule(bytes, from + 2, to, entries);
    else entries.skipped();
  },
};

/** `! …`, `[Adblock Plus 2.0]`, and `# …`, while `##…` is a rule. */
function isComment(bytes: Uint8Array, start: number, end: number): boolean {
  const [first, second] = [bytes[start], bytes[start + 1]];
  if (first === HASH) return start + 1 === end || second <= SPACE;
  return first === BANG || first === BRACKET;
}

function readRule(bytes: Uint8Array, start: number, end: number, entries: EntrySink): void {
  const nameEnd = indexOfByte(bytes, CARET, start, end);
  const isPattern =
    indexOfByte(bytes, ASTERISK, start, nameEnd) < nameEnd ||
    indexOfByte(bytes, SLASH, start, nameEnd) < nameEnd;
  if (nameEnd === end || isPattern || !coversAll(bytes, nameEnd + 1, end)) entries.skipped();
  else entries.name(bytes, start, nameEnd);
}

/** Whether only options that restrict nothing follow the name. */
function coversAll(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  if (bytes[start] !== DOLLAR || end - start > LONGEST_OPTIONS) return false;
  const options = asciiText(bytes, start + 1, end).split(',');
  return options.every((option) => UNRESTRICTING.has(option));
}
