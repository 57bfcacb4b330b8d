import { ZoneFileError } from './zone-file-error.js';

/** One word or quoted string, as it is written: with its escapes, a quoted string without its quotation marks. */
export interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** One directive or record: a line, or several lines in parentheses (RFC 1035 §5.1). */
export interface Entry {
  /** Number of its first line, from 1. */
  readonly line: number;
  /** Whether it begins with a space: the owner is that of the record before. */
  readonly isIndented: boolean;
  readonly tokens: readonly Token[];
}

/**
 * Blanks, a comment, the end of a line, a parenthesis, a quoted string, or a word, which may end with a quoted string
 * (`key="value"`). No two of them begin with the same character.
 */
const PIECE =
  /[ \t\r]+|;[^\n]*|\n|[()]|"((?:[^"\\\n]|\\[^\n])*)"|(?:[^\s()";\\]|\\[^\n])+(?:"(?:[^"\\\n]|\\[^\n])*")?/y;

/** More than fit a record. */
const MAX_TOKENS = 65_536;

/** Splits a zone file into its entries. @throws ZoneFileError */
export function* readEntries(text: string): Generator<Entry> {
  const pieces = new RegExp(PIECE);
  let lineNumber = 1;
  let firstLine = 1;
  let depth = 0;
  let isIndented = false;
  let isLineStart = true;
  let tokens: Token[] = [];
  while (pieces.lastIndex < text.length) {
    const match = pieces.exec(text);
    if (match === null)
      throw new ZoneFileError(`line ${lineNumber}: a quotation mark or an escape is not complete`);
    const [piece, quoted] = match as [string, string?];
    const isBlank = /^[ \t\r]/.test(piece);
    if (isLineStart && depth === 0 && piece !== '\n') {
      isIndented = isBlank;
      firstLine = lineNumber;
    }
    isLineStart = piece === '\n';
    if (isLineStart) lineNumber++;
    if (piece === '(') depth++;
    else if (piece === ')') depth--;
    else if (!isBlank && !isLineStart && !piece.startsWith(';')) {
      tokens.push({ text: quoted ?? piece, isQuoted: quoted !== undefined });
    }
    if (tokens.length > MAX_TOKENS)
      throw new ZoneFileError(`line ${firstLine}: the record is too large`);
    if (depth < 0)
      throw new ZoneFileError(`line ${lineNumber}: a parenthesis is closed that is not open`);
    if (isLineStart && depth === 0 && tokens.length > 0) {
      yield { line: firstLine, isIndented, tokens };
      tokens = [];
    }
  }
  if (depth > 0) throw new ZoneFileError(`line ${firstLine}: a parenthesis is not closed`);
  if (tokens.length > 0) yield { line: firstLine, isIndented, tokens };
}
