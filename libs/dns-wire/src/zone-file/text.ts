import { copyBytes } from '../bytes.js';
import { MAX_LABEL_BYTES, MAX_NAME_BYTES } from '../protocol.js';
import { ZoneFileError } from './zone-file-error.js';

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const MAX_ASCII = 0x7f;
/** Digits of `\DDD`. */
const ESCAPE_DIGITS = 3;

/** Goes through the bytes of a text (UTF-8), and undoes its escapes: `\DDD` is a byte, `\X` is X (RFC 1035 §5.1). */
class TextBytes {
  /** Whether the last byte was escaped. */
  isEscaped = false;
  private at = 0;
  private readonly bytes: Uint8Array;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  next(): number {
    const byte = this.bytes[this.at++];
    this.isEscaped = byte === BACKSLASH;
    if (!this.isEscaped) return byte;
    return isDigit(this.bytes[this.at]) ? this.number() : this.bytes[this.at++];
  }

  private number(): number {
    let value = 0;
    for (let i = 0; i < ESCAPE_DIGITS; i++) {
      const byte = this.bytes[this.at++];
      if (!isDigit(byte)) throw new ZoneFileError('an escape has less than three digits');
      value = value * 10 + byte - 0x30;
    }
    if (value > 0xff) throw new ZoneFileError(`\\${value} is not a byte`);
    return value;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** The bytes of a text, without its escapes. Other characters than ASCII are UTF-8. */
export function bytesOfText(text: string): Uint8Array {
  const source = new TextBytes(text);
  const bytes = new Uint8Array(Buffer.byteLength(text));
  let length = 0;
  while (!source.isAtEnd) bytes[length++] = source.next();
  return bytes.subarray(0, length);
}

/**
 * The wire name of a name in presentation form. `@` is the origin; a name without a dot at its end is relative to it.
 * @param origin a wire name
 */
export function wireNameOf(text: string, origin: Uint8Array): Uint8Array {
  if (text === '@') return origin;
  if (text === '.') return Uint8Array.of(0);
  if (text === '') throw new ZoneFileError('a name is empty');
  const source = new TextBytes(text);
  const name = new Uint8Array(Buffer.byteLength(text) + 1 + origin.length);
  let labelAt = 0;
  let end = 1;
  while (!source.isAtEnd) {
    const byte = source.next();
    if (byte === DOT && !source.isEscaped) {
      endLabel(name, labelAt, end);
      labelAt = end++;
      continue;
    }
    if (byte > MAX_ASCII && !source.isEscaped) {
      throw new ZoneFileError('a name has other characters than ASCII; write it with xn--');
    }
    name[end++] = byte;
  }
  const isAbsolute = end === labelAt + 1;
  if (!isAbsolute) {
    endLabel(name, labelAt, end);
    copyBytes(origin, 0, name, end, origin.length);
    end += origin.length;
  }
  if (end > MAX_NAME_BYTES)
    throw new ZoneFileError(`a name is longer than ${MAX_NAME_BYTES} bytes`);
  return name.slice(0, end);
}

/** Writes the length of the label that is [labelAt + 1, end). */
function endLabel(name: Uint8Array, labelAt: number, end: number): void {
  const length = end - labelAt - 1;
  if (length === 0) throw new ZoneFileError('a name has an empty label');
  if (length > MAX_LABEL_BYTES) {
    throw new ZoneFileError(`a label is longer than ${MAX_LABEL_BYTES} bytes`);
  }
  name[labelAt] = length;
}
