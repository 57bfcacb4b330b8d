import type { Token } from './entries.js';
import { bytesOfText, wireNameOf } from './text.js';
import { ZoneFileError } from './zone-file-error.js';

const MAX_STRING_BYTES = 255;

/** Reads the fields of the rdata of one record, one after another. */
export class Fields {
  private at = 0;

  /** @param origin the wire name that relative names end with */
  constructor(
    private readonly tokens: readonly Token[],
    private readonly origin: Uint8Array,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.tokens.length;
  }

  /** @param what for the message when there is no field left */
  word(what: string): string {
    if (this.isAtEnd) throw new ZoneFileError(`${what} is missing`);
    return this.tokens[this.at++].text;
  }

  name(): Uint8Array {
    return wireNameOf(this.word('a name'), this.origin);
  }

  /** An unsigned number of 1, 2 or 4 bytes. */
  number(bytes: 1 | 2 | 4): Uint8Array {
    return numberBytes(this.word('a number'), bytes);
  }

  /** A time in seconds, or with units: `1h30m`. */
  seconds(): Uint8Array {
    return numberBytes(String(secondsOf(this.word('a time'))), 4);
  }

  ipv4(): Uint8Array {
    return ipv4Bytes(this.word('an IPv4 address'));
  }

  ipv6(): Uint8Array {
    return ipv6Bytes(this.word('an IPv6 address'));
  }

  /** A <character-string> (RFC 1035 §3.3) with its length. */
  string(): Uint8Array {
    const bytes = this.bytes();
    if (bytes.length > MAX_STRING_BYTES) {
      throw new ZoneFileError(`a string is longer than ${MAX_STRING_BYTES} bytes`);
    }
    return Uint8Array.of(bytes.length, ...bytes);
  }

  /** The bytes of a text of any length. */
  bytes(): Uint8Array {
    return bytesOfText(this.word('a text'));
  }

  /** What is left, as one text without blanks. */
  rest(): string {
    const words = this.tokens.slice(this.at);
    this.at = this.tokens.length;
    return words.map(({ text }) => text).join('');
  }
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const TIME = /^(?:\d+[smhdw]?)+$/i;
const MAX_SECONDS = 2 ** 31 - 1;

/** A TTL or another time: seconds, or numbers with units. */
export function secondsOf(text: string): number {
  if (!TIME.test(text)) throw new ZoneFileError(`"${text}" is not a time`);
  let seconds = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+)([smhdw]?)/gi)) {
    const key = (unit === '' ? 's' : unit.toLowerCase()) as keyof typeof UNIT_SECONDS;
    seconds += Number(digits) * UNIT_SECONDS[key];
  }
  if (seconds > MAX_SECONDS) throw new ZoneFileError(`${text} is longer than ${MAX_SECONDS} s`);
  return seconds;
}

/** A decimal number as that many bytes, big-endian. */
export function numberBytes(text: string, bytes: 1 | 2 | 4): Uint8Array {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value >= 256 ** bytes) {
    throw new ZoneFileError(`"${text}" is not a number of ${8 * bytes} bits`);
  }
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

const IPV4 = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/;
const IPV6_GROUP = /^[\da-f]{1,4}$/i;
/** An IPv4 address that is not the end. */
const IPV4_WITHIN = /\..*:/;
const IPV6_WORDS = 8;

export function ipv4Bytes(text: string): Uint8Array {
  if (!IPV4.test(text)) throw new ZoneFileError(`"${text}" is not an IPv4 address`);
  return Uint8Array.from(text.split('.').map(Number));
}

export function ipv6Bytes(text: string): Uint8Array {
  const parts = text.split('::');
  const [first, last = []] = parts.map(wordsOf);
  const zeros = IPV6_WORDS - first.length - last.length;
  const isComplete = parts.length === 1 ? zeros === 0 : parts.length === 2 && zeros > 0;
  const words = [...first, ...Array.from({ length: Math.max(zeros, 0) }, () => 0), ...last];
  if (!isComplete || words.some(Number.isNaN) || IPV4_WITHIN.test(text)) {
    throw new ZoneFileError(`"${text}" is not an IPv6 address`);
  }
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

/** The 16-bit words of a part of an IPv6 address; NaN for what is none. A group may be an IPv4 address. */
function wordsOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (IPV6_GROUP.test(group)) return [Number.parseInt(group, 16)];
    if (!IPV4.test(group)) return [NaN];
    const [a, b, c, d] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
