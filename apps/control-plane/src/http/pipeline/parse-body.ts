import type { Fault } from '../validation/fault.js';

/** Deepest nesting; that of the deepest valid body is 5. */
const MAX_DEPTH = 16;
/** Fields of one object. It is more than the faults of a response, so that these can name unknown fields. */
const MAX_FIELDS = 200;
/** The largest valid body, a schedule of 10,000 periods, has 30,002 objects and lists and 40,000 commas. */
const MAX_CONTAINERS = 40_000;
const MAX_COMMAS = 60_000;
/** Bytes outside of all lists, which are parsed in one piece. Those of a valid body are a few hundred. */
const MAX_BYTES_OUTSIDE = 1_048_576;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Counts what makes JSON expensive to parse, while its bytes arrive: a body of 16 MB that is deep, has millions of
 * objects or fields, or consists of spaces, would take `JSON.parse` seconds, in which nothing else is answered. Whether
 * the text is JSON at all is left to the parser.
 */
export class JsonSize {
  isTooLarge = false;
  /** Colons outside of strings: one for each field of the text. */
  colons = 0;
  private depth = 0;
  private containers = 0;
  private commas = 0;
  private bytesOutside = 0;
  /** Depth of the outermost list that is open; 0: there is none. */
  private listDepth = 0;
  private inString = false;
  private escaped = false;
  /** By depth: whether it is an object, and its commas. */
  private readonly isObject = new Uint8Array(MAX_DEPTH + 1);
  private readonly fields = new Uint32Array(MAX_DEPTH + 1);

  push(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length && !this.isTooLarge; i++) {
      const byte = bytes[i];
      if (this.listDepth === 0 && ++this.bytesOutside > MAX_BYTES_OUTSIDE) this.isTooLarge = true;
      if (!this.inString) this.count(byte);
      else if (this.escaped) this.escaped = false;
      else if (byte === BACKSLASH) this.escaped = true;
      else if (byte === QUOTE) this.inString = false;
    }
  }

  private count(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.inString = true;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.open(byte === OPEN_BRACE);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.depth === this.listDepth) this.listDepth = 0;
        if (this.depth > 0) this.depth--;
        break;
      case COMMA:
        this.comma();
        break;
      case COLON:
        this.colons++;
        break;
    }
  }

  private open(isObject: boolean): void {
    if (++this.containers > MAX_CONTAINERS || this.depth === MAX_DEPTH) {
      this.isTooLarge = true;
      return;
    }
    this.depth++;
    if (!isObject && this.listDepth === 0) this.listDepth = this.depth;
    this.isObject[this.depth] = isObject ? 1 : 0;
    this.fields[this.depth] = 1;
  }

  private comma(): void {
    const isField = this.isObject[this.depth] === 1;
    if (++this.commas > MAX_COMMAS || (isField && ++this.fields[this.depth] > MAX_FIELDS)) {
      this.isTooLarge = true;
    }
  }
}

const INITIAL_BYTES = 1_024;

/**
 * Collects the bytes of a text that arrives in chunks in one piece of memory, of which a chunk of one byte takes some
 * 550 bytes. It needs at most twice the bytes, and for a moment, while it grows, three times.
 */
export class CollectedBytes {
  private bytes = new Uint8Array(INITIAL_BYTES);
  length = 0;

  append(source: Uint8Array, from = 0, to = source.length): void {
    const length = this.length + to - from;
    if (length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.bytes.length * 2));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(source.subarray(from, to), this.length);
    this.length = length;
  }

  /** Those from an offset on, until the next call of another method. */
  view(from = 0): Uint8Array {
    return this.bytes.subarray(from, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** A body: its value (its bytes as a stream, where the controller reads them), or why there is no value. */
export type SentBody = { readonly value: unknown } | { readonly fault: Fault };

export const NO_BODY: Fault = { loc: [], msg: 'A body is required', type: 'missing' };

const TOO_LARGE: Fault = {
  loc: [],
  msg: 'The body has too many values, too many fields in an object, too deep nesting, or over 1 MB outside its lists',
  type: 'too_long',
};

/** JSON does not define what a repeated name means (RFC 8259 §4), and the parser takes the last. */
export const REPEATED_FIELD: Fault = {
  loc: [],
  msg: 'An object has a field more than once',
  type: 'duplicate',
};

/** Fields of all objects in a parsed value. The text has more when an object has a field more than once. */
export function countFields(value: unknown): number {
  let count = 0;
  // Not recursive: a value may have any depth.
  const left = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== 'object' || one === null) continue;
    const inner = Object.values(one) as unknown[];
    if (!Array.isArray(one)) count += inner.length;
    for (const each of inner) if (typeof each === 'object') left.push(each);
  }
  return count;
}

/**
 * Reads and parses a body as a whole. Invalid JSON is reported later, together with all other faults. JSON that would
 * take long to parse is not parsed.
 */
export async function parseBody(body: AsyncIterable<Uint8Array>): Promise<SentBody> {
  const size = new JsonSize();
  const bytes = new CollectedBytes();
  for await (const chunk of body) {
    size.push(chunk);
    // The rest is not read.
    if (size.isTooLarge) return { fault: TOO_LARGE };
    bytes.append(chunk);
  }
  if (bytes.length === 0) return { fault: NO_BODY };
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes.view()));
    return countFields(value) === size.colons ? { value } : { fault: REPEATED_FIELD };
  } catch {
    return { fault: { loc: [], msg: 'Not JSON', type: 'json_invalid' } };
  }
}

/** RFC 8259 §8.1. A byte order mark is skipped. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
