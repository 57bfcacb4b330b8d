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
