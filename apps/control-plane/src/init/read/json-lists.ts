import { TextBuffer } from './text-buffer.js';

/** What is read from a body of lists, in the order in which it stands there. */
export interface ListSink {
  /** Some values of the list in the body's field `key`, from position `first` on. */
  values(key: string, first: number, values: readonly unknown[]): void;
  /** Some values of the long list inside the value at position `at` of the list `key`; the value itself comes later. */
  nestedValues(key: string, at: number, first: number, values: readonly unknown[]): void;
}

/** The body is not JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** A value outside of the lists, or one value of them, is longer than any that means something. */
export class JsonSizeError extends Error {
  override readonly name = 'JsonSizeError';

  /** @param path of what is too long. */
  constructor(readonly path: readonly string[]) {
    super('too long');
  }
}

/** Text of a list that is parsed at a time, at least. */
const PIECE_BYTES = 32_768;
/** Longest value of a list without its nested long list, and longest body without its lists. */
const MAX_VALUE_BYTES = 4 * 1024 * 1024;

const BYTE_ORDER_MARK = /^\ufeff/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** A part of the body that is parsed for itself: what stands outside of the lists, a list, or a nested list. */
class Part {
  readonly text = new TextBuffer();
  /** Where its last string begins, as an offset into the text. */
  lastString = 0;
  /** Position of the first value of the text. */
  first = 0;
  /** Commas between values in the text. */
  commas = 0;

  constructor(
    /** Nesting of its values: brackets and braces around them. */
    readonly depth: number,
  ) {}
}

/**
 * Reads a JSON object of lists that may be longer than memory: each list is handed over some values at a time while the
 * bytes come in. The bytes are only searched for brackets, strings and commas, and cut there; whether the pieces are
 * JSON is `JSON.parse`'s business. The pieces are JSON, and each list has one value more than commas, exactly if the
 * whole is JSON.
 */
export class JsonLists {
  private readonly outside = new Part(1);
  private readonly list = new Part(2);
  private readonly nested = new Part(4);
  private part = this.outside;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private key = '';
  /** Whether the body, and the value of a list being read, are objects. */
  private isObject = false;
  private isValueObject = false;

  /** @param nestedLists by the name of a list: the field of its values that holds a long list. */
  constructor(
    private readonly nestedLists: Readonly<Partial<Record<string, string>>>,
    private readonly sink: ListSink,
  ) {}

  /** @throws JsonSyntaxError, JsonSizeError. Nothing may be pushed after that. */
  push(bytes: Uint8Array): void {
    let from = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i];
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) this.inString = false;
        continue;
      }
      switch (byte) {
        case QUOTE:
          this.inString = true;
          this.part.lastString = this.part.text.length + i - from;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          from = this.open(bytes, from, i, byte);
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          from = this.close(bytes, from, i, byte);
          break;
        case COMMA:
          from = this.comma(bytes, from, i);
          break;
      }
    }
    this.take(bytes, from, bytes.length);
  }

  /** @returns the body without what is in its lists. @throws JsonSyntaxError when it is not whole. */
  end(): unknown {
    if (this.part !== this.outside) throw new JsonSyntaxError();
    return parse(() => this.outside.text.text().replace(BYTE_ORDER_MARK, ''));
  }

  private open(bytes: Uint8Array, from: number, at: number, byte: number): number {
    this.depth++;
    if (this.depth === 1) this.isObject = byte === OPEN_BRACE;
    if (this.depth === 3) this.isValueObject = byte === OPEN_BRACE;
    if (byte !== OPEN_BRACKET) return from;
    if (this.part === this.outside && this.depth === 2 && this.isObject) {
      this.take(bytes, from, at + 1);
      this.key = lastKey(this.outside);
      return this.begin(this.list, at);
    }
    if (this.part === this.list && this.depth === 4 && this.isValueObject) {
      const wanted = this.nestedLists[this.key];
      if (wanted === undefined) return from;
      this.take(bytes, from, at);
      if (lastKey(this.list) !== wanted) return at;
      this.take(bytes, at, at + 1);
      return this.begin(this.nested, at);
    }
    return from;
  }

  private begin(part: Part, at: number): number {
    this.part = part;
    part.first = 0;
    return at + 1;
  }

  private close(bytes: Uint8Array, from: number, at: number, byte: number): number {
    const ends = this.depth === this.part.depth && this.part !== this.outside;
    this.depth--;
    if (!ends) return from;
    // Any other bracket is inside a piece, where the parser sees it.
    if (byte !== CLOSE_BRACKET) throw new JsonSyntaxError();
    this.take(bytes, from, at);
    this.hand(true);
    this.part = this.part === this.nested ? this.list : this.outside;
    return at;
  }

  private comma(bytes: Uint8Array, from: number, at: number): number {
    const { part } = this;
    if (this.depth !== part.depth || part === this.outside) return from;
    if (part.text.length + at - from < PIECE_BYTES) {
      part.commas++;
      return from;
    }
    this.take(bytes, from, at);
    this.hand(false);
    return at + 1;
  }

  private take(bytes: Uint8Array, from: number, to: number): void {
    this.part.text.append(bytes, from, to);
    if (this.part.text.length > MAX_VALUE_BYTES) throw new JsonSizeError(this.path());
  }

  /** Hands over the values in the text of the current list. */
  private hand(last: boolean): void {
    const { part } = this;
    const { text, first, commas } = part;
    const values = parse(() => `[${text.text()}]`) as unknown[];
    // Only a list without any values may have none after its last comma.
    const empty = last && first === 0 && commas === 0 && values.length === 0;
    if (!empty && values.length !== commas + 1) throw new JsonSyntaxError();
    if (part === this.nested) {
      this.sink.nestedValues(this.key, this.position(), first, values);
    } else {
      this.sink.values(this.key, first, values);
    }
    part.first += values.length;
    part.commas = 0;
    text.clear();
  }

  /** Of the value of the list that is being read. */
  private position(): number {
    return this.list.first + this.list.commas;
  }

  private path(): string[] {
    if (this.part === this.outside) return [];
    const value = [this.key, String(this.position())];
    return this.part === this.list
      ? value
      : [
          ...value,
          this.nestedLists[this.key] ?? '',
          String(this.nested.first + this.nested.commas),
        ];
  }
}

/** The last string of the text: the field's name, where a value begins right after it. */
function lastKey({ text, lastString }: Part): string {
  const end = text.text(lastString).lastIndexOf('"');
  const key = parse(() => text.text(lastString).slice(0, end + 1));
  return typeof key === 'string' ? key : '';
}

/** @throws JsonSyntaxError when the text is no JSON, or its bytes are not UTF-8. */
function parse(text: () => string): unknown {
  try {
    return JSON.parse(text());
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw new JsonSyntaxError();
    throw error;
  }
}
