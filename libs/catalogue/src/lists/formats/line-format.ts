/** Where a format puts what it finds in a line. */
export interface EntrySink {
  /** A name to list: bytes `start` … `end` − 1. */
  name(bytes: Uint8Array, start: number, end: number): void;
  /** A name to list, as text. */
  nameText(text: string): void;
  /** An entry that lists no name. */
  skipped(): void;
  /** The line is no entry at all. */
  invalid(problem: string): void;
}

/** Reads one list, line by line. */
export interface LineFormat {
  /** A line is bytes `start` … `end` − 1 of `bytes`, perhaps with a carriage return at its end. */
  line(bytes: Uint8Array, start: number, end: number, entries: EntrySink): void;
  /** Is called behind the last line by formats in which an entry may have several. */
  end?(entries: EntrySink): void;
}

const SPACE = 0x20;

export const HASH = 0x23;

/** Where the text begins that space surrounds; `end` when there is none. Space: every byte up to 0x20. */
export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] <= SPACE) at++;
  return at;
}

/** Where the word that begins at `start` ends. */
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

/** Where a byte stands first, or `end`. */
export function indexOfByte(bytes: Uint8Array, byte: number, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}

/** The bytes as text, each one a character: for words of ASCII. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at]);
  return text;
}
