import { FLAT_NULL, FlatRows } from './flat-rows.js';

const [OPEN, CLOSE, COMMA, ZERO] = [0x5b, 0x5d, 0x2c, 0x30];
const NULL = [0x6e, 0x75, 0x6c, 0x6c];
/** This many digits fit in a small integer, with which V8 computes fastest. */
const MOST_SMALL_DIGITS = 9;
const POWERS = Array.from({ length: MOST_SMALL_DIGITS + 1 }, (_, digits) => 10 ** digits);
/** A number of more bytes may not be a safe integer. */
const MOST_DIGITS = 16;

/**
 * Reads rows from their JSON text, `[[1,2],[3,null]]`, without an object for each of them. It understands what
 * `JSON.stringify` writes for rows, so no spaces, signs, fractions or exponents.
 */
export class RowsParser {
  private values = new Float64Array(1 << 12);
  private ends = new Uint32Array(1 << 10);

  /** @returns the rows of the text from `start` to before `end`; null: it is something else. */
  parse(text: Uint8Array, start: number, end: number): FlatRows | null {
    if (end - start < 2 || text[start] !== OPEN || text[end - 1] !== CLOSE) return null;
    this.makeRoom(end - start);
    const { values, ends } = this;
    let valueCount = 0;
    let rowCount = 0;
    let at = start + 1;
    // The last byte, `]`, ends each number, so nothing behind it is read.
    const last = end - 1;
    while (at < last) {
      if (rowCount > 0 && text[at++] !== COMMA) return null;
      if (text[at++] !== OPEN) return null;
      if (text[at] === CLOSE) {
        at++;
      } else {
        do {
          const from = at;
          let low = 0;
          for (let digit = text[at] - ZERO; isDigit(digit); digit = text[at] - ZERO) {
            if (at - from === MOST_SMALL_DIGITS) break;
            low = (low * 10 + digit) | 0;
            at++;
          }
          let value: number = low;
          if (at === from) {
            if (!isNull(text, at)) return null;
            value = FLAT_NULL;
            at += NULL.length;
          } else if (at - from === MOST_SMALL_DIGITS) {
            const more = at;
            low = 0;
            for (let digit = text[at] - ZERO; isDigit(digit); digit = text[at] - ZERO) {
              if (at - more === MOST_SMALL_DIGITS) return null;
              low = (low * 10 + digit) | 0;
              at++;
            }
            value = value * POWERS[at - more] + low;
          }
          const isPadded = text[from] === ZERO && at - from > 1;
          if (isPadded || at - from > MOST_DIGITS || value > Number.MAX_SAFE_INTEGER) return null;
          values[valueCount++] = value;
        } while (text[at++] === COMMA);
        if (text[at - 1] !== CLOSE) return null;
      }
      if (at > last) return null;
      ends[rowCount++] = valueCount;
    }
    return at === last ? new FlatRows(values.slice(0, valueCount), ends.slice(0, rowCount)) : null;
  }

  /** A value takes at least two bytes with what follows it, a row three. */
  private makeRoom(bytes: number): void {
    const [values, rows] = [Math.ceil(bytes / 2), Math.ceil(bytes / 3)];
    if (this.values.length < values) this.values = new Float64Array(values);
    if (this.ends.length < rows) this.ends = new Uint32Array(rows);
  }
}

function isDigit(value: number): boolean {
  return value >= 0 && value <= 9;
}

function isNull(text: Uint8Array, at: number): boolean {
  return NULL.every((byte, i) => text[at + i] === byte);
}
