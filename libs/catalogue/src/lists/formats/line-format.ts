/** Receives what a format finds in a line. */
export interface EntrySink {
  /** A name to list: bytes `start` … `end` − 1. */
  name(bytes: Uint8Array, start: number, end: number): void;
  /** A name to list, as text. */
  nameText(text: string): void;
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
