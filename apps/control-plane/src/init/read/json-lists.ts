import { CollectedBytes, countFields } from '../../http/pipeline/parse-body.js';

/** JSON is UTF-8 (RFC 8259 §8.1). A byte order mark is not skipped. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Receives the values of the lists, in the order of the body. */
export interface ListSink {
  /** Values of the list in field `key`, starting at position `first`. */
  values(key: string, first: number, values: readonly unknown[]): void;
  /** Values of the nested list of the item at position `at` of list `key`. The item itself follows later. */
  nestedValues(key: string, at: number, first: number, values: readonly unknown[]): void;
  /** A value that has an object with a field more than once. @param path of the value */
  repeatedField(path: readonly string[]): void;
}

/** The body is not JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** A value is longer than any valid one. */
export class JsonSizeError extends Error {
  override readonly name = 'JsonSizeError';

  /** @param path of what is too long. */
  constructor(readonly path: readonly string[]) {
    super('too long');
  }
}

/** Minimum text of a list that is parsed at once. */
const PIECE_BYTES = 32_768;
/** Longest item of a list without its nested list, and longest body without its lists. */
const MAX_VALUE_BYTES = 4 * 1024 * 1024;

const BYTE_ORDER_MARK = /^\ufeff/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** A section of the body, which is parsed separately: the text outside of the lists, a list, or a nested list. */
class Section {
  readonly text = new CollectedBytes();
  /** Offset of its last string in the text; -1: `lastKey` has read it. */
  lastString = -1;
  /** Position of the first value of the text. */
  first = 0;
  /** For each value of the text: its colons outside of strings, one for each field. */
  colons = [0];

  constructor(
    /** Nesting depth of its values. */
    readonly depth: number,
  ) {}

  /** Position of the value that is being read. */
  get position(): number {
    return this.first + this.colons.length - 1;
  }
}

/**
 * Reads a JSON object of lists that may be larger than memory, and passes their values on in batches. It only finds
 * brackets, strings and commas, and cuts the text there for `JSON.parse`. The whole is valid JSON exactly if all pieces
 * are valid and each list has one value more than commas.
 */
export class JsonLists {
  private readonly outside = new Section(1);
  private readonly list = new Section(2);
  private readonly nested = new Section(4);
  private section = this.outside;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private key = '';
  /** Whether the body, and the current item of the list, are objects. */
  private isObject = false;
  private isValueObject = false;

  /** @param nestedLists by the name of a list: the field of its items that contains a nested list. */
  constructor(
    private readonly nestedLists: Readonly<Partial<Record<string, string>>>,
    private readonly sink: ListSink,
  ) {}

  /** @throws JsonSyntaxError, JsonSizeError. Do not call it again after an error. */
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
          this.section.lastString = this.section.text.length + i - from;
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
        case COLON:
          this.section.colons[this.section.colons.length - 1]++;
          break;
      }
    }
    this.append(bytes, from, bytes.length);
  }

  /** @returns the body with empty lists. @throws JsonSyntaxError when it is incomplete. */
  end(): unknown {
    if (this.section !== this.outside) throw new JsonSyntaxError();
    const body = parse(() => textOf(this.outside.text).replace(BYTE_ORDER_MARK, ''));
    if (countFields(body) !== this.outside.colons[0]) this.sink.repeatedField([]);
    return body;
  }

  private open(bytes: Uint8Array, from: number, at: number, byte: number): number {
    this.depth++;
    if (this.depth === 1) this.isObject = byte === OPEN_BRACE;
    if (this.depth === 3) this.isValueObject = byte === OPEN_BRACE;
    if (byte !== OPEN_BRACKET) return from;
    if (this.section === this.outside && this.depth === 2 && this.isObject) {
      this.append(bytes, from, at + 1);
      this.key = lastKey(this.outside);
      return this.begin(this.list, at);
    }
    if (this.section === this.list && this.depth === 4 && this.isValueObject) {
      const nestedField = this.nestedLists[this.key];
      if (nestedField === undefined) return from;
      this.append(bytes, from, at);
      if (lastKey(this.list) !== nestedField) return at;
      this.append(bytes, at, at + 1);
      return this.begin(this.nested, at);
    }
    return from;
  }

  private begin(section: Section, at: number): number {
    this.section = section;
    section.first = 0;
    return at + 1;
  }

  private close(bytes: Uint8Array, from: number, at: number, byte: number): number {
    const ends = this.depth === this.section.depth && this.section !== this.outside;
    this.depth--;
    if (!ends) return from;
    // The parser checks all brackets inside of a piece.
    if (byte !== CLOSE_BRACKET) throw new JsonSyntaxError();
    this.append(bytes, from, at);
    this.emit(true);
    this.section = this.section === this.nested ? this.list : this.outside;
    return at;
  }

  private comma(bytes: Uint8Array, from: number, at: number): number {
    const { section } = this;
    if (this.depth !== section.depth || section === this.outside) return from;
    if (section.text.length + at - from < PIECE_BYTES) {
      section.colons.push(0);
      return from;
    }
    this.append(bytes, from, at);
    this.emit(false);
    return at + 1;
  }

  private append(bytes: Uint8Array, from: number, to: number): void {
    this.section.text.append(bytes, from, to);
    if (this.section.text.length > MAX_VALUE_BYTES)
      throw new JsonSizeError(this.path(this.section.colons.length - 1));
  }

  /** Parses the text of the current list and passes its values on. */
  private emit(last: boolean): void {
    const { section } = this;
    const { text, first, colons } = section;
    const values = parse(() => `[${textOf(text)}]`) as unknown[];
    // Only an empty list may have no value after the last comma.
    const empty = last && first === 0 && colons.length === 1 && values.length === 0;
    if (!empty && values.length !== colons.length) throw new JsonSyntaxError();
    const repeated = values.findIndex((value, i) => countFields(value) !== colons[i]);
    if (repeated >= 0) this.sink.repeatedField(this.path(repeated));
    if (section === this.nested) {
      this.sink.nestedValues(this.key, this.list.position, first, values);
    } else {
      this.sink.values(this.key, first, values);
    }
    section.first += values.length;
    section.colons = [0];
    text.clear();
  }

  /** @param at position of a value in the text of the section */
  private path(at: number): string[] {
    const { section, list, key } = this;
    if (section === this.outside) return [];
    const position = String(section.first + at);
    if (section === list) return [key, position];
    return [key, String(list.position), this.nestedLists[key] ?? '', position];
  }
}

/**
 * The name of the field whose value begins now: the last string. It is read once, so that no text is decoded again.
 * @throws JsonSyntaxError when a list begins without a name of its own.
 */
function lastKey(section: Section): string {
  const { text, lastString } = section;
  if (lastString === -1) throw new JsonSyntaxError();
  section.lastString = -1;
  const key = parse(() => {
    const rest = textOf(text, lastString);
    return rest.slice(0, rest.lastIndexOf('"') + 1);
  });
  return typeof key === 'string' ? key : '';
}

/** @throws TypeError when the bytes are not UTF-8. */
function textOf(bytes: CollectedBytes, from = 0): string {
  return decoder.decode(bytes.view(from));
}

/** @throws JsonSyntaxError when the text is not JSON or not UTF-8. */
function parse(text: () => string): unknown {
  try {
    return JSON.parse(text());
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw new JsonSyntaxError();
    throw error;
  }
}
