import { RowError } from '@weir/config-model';
import type { Yielder } from '../runtime/yielder.js';
import { parseJson } from './message.js';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Parsed and decoded in about a millisecond. */
const PIECE_BYTES = 32 * 1024;
/** Scanned in a millisecond before the code is compiled. */
const SCAN_BYTES = 32 * 1024;

/**
 * JSON text that is parsed step by step: the arrays at one depth, which may be long, are cut out and parsed in pieces.
 * In the rest, the number of such an array is its only element.
 */
export class SteppedJson {
  private constructor(
    /** The text without the elements of the arrays. */
    readonly rest: unknown,
    private readonly json: Uint8Array,
    private readonly arrays: readonly Cuts[],
  ) {}

  /**
   * @param depth of the arrays: an array that is the whole text has depth 1.
   * @throws RowError when it is not JSON; also later, if that is in one of the arrays.
   */
  static async scan(
    json: Uint8Array,
    depth: number,
    yielder: Pick<Yielder, 'yieldIfDue'>,
  ): Promise<SteppedJson> {
    const scanner = new Scanner(json, depth);
    while (scanner.scan(SCAN_BYTES)) await yielder.yieldIfDue();
    return new SteppedJson(parseJson(scanner.rest()), json, scanner.arrays);
  }

  /** The elements of an array that was cut out, some at a time. @throws RowError when it is none. */
  *elements(array: unknown): Generator<readonly unknown[]> {
    const cuts = Array.isArray(array) ? this.arrays[array[0] as number] : undefined;
    if (cuts === undefined) throw new RowError('not an array at its place');
    for (let i = 1; i < cuts.length; i++) {
      const piece = textOf(this.json.subarray(cuts[i - 1], cuts[i]));
      // A cut is at a comma, which belongs to the piece behind it.
      const elements = parseJson(`[${i === 1 ? piece : piece.slice(1)}]`) as unknown[];
      // Nothing stands before the first comma, or behind the last one.
      if (elements.length === 0 && cuts.length > 2) throw new RowError('not JSON');
      yield elements;
    }
  }
}

/** Offsets in an array: behind its opening bracket, of commas between its pieces, of its closing bracket. */
type Cuts = readonly number[];

class Scanner {
  readonly arrays: Cuts[] = [];
  private at = 0;
  private level = 0;
  private cuts: number[] | null = null;

  constructor(
    private readonly json: Uint8Array,
    private readonly depth: number,
  ) {}

  /** @returns false: it has come to the end. */
  scan(bytes: number): boolean {
    const { json } = this;
    const end = Math.min(this.at + bytes, json.length);
    for (; this.at < end; this.at++) {
      const byte = json[this.at];
      if (byte === QUOTE) this.at = endOfString(json, this.at);
      else if (byte === COMMA) this.passComma();
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.open(byte === OPEN_ARRAY);
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.close();
    }
    return this.at < json.length;
  }

  rest(): string {
    const kept: string[] = [];
    let from = 0;
    for (const [number, cuts] of this.arrays.entries()) {
      kept.push(textOf(this.json.subarray(from, cuts[0])), String(number));
      from = cuts.at(-1) ?? 0;
    }
    return kept.join('') + textOf(this.json.subarray(from));
  }

  private passComma(): void {
    if (this.level !== this.depth || this.cuts === null) return;
    if (this.at - (this.cuts.at(-1) ?? 0) >= PIECE_BYTES) this.cuts.push(this.at);
  }

  private open(isArray: boolean): void {
    this.level++;
    if (isArray && this.level === this.depth) this.cuts = [this.at + 1];
  }

  private close(): void {
    if (this.level === this.depth && this.cuts !== null) {
      this.cuts.push(this.at);
      this.arrays.push(this.cuts);
      this.cuts = null;
    }
    this.level--;
  }
}

/** The offset of the quote that ends the string which begins at `at`; the end of the text if there is none. */
function endOfString(json: Uint8Array, at: number): number {
  for (at++; at < json.length && json[at] !== QUOTE; at++) {
    if (json[at] === BACKSLASH) at++;
  }
  return at;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
