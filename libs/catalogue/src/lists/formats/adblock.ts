import {
  asciiText,
  type EntrySink,
  HASH,
  indexOfByte,
  type LineFormat,
  skipSpace,
  trimEnd,
} from './line-format.js';

const [BANG, DOLLAR, ASTERISK, SLASH, BRACKET] = [0x21, 0x24, 0x2a, 0x2f, 0x5b];
const [CARET, PIPE] = [0x5e, 0x7c];
const SPACE = 0x20;
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
