import { SteppedJson } from '@weir/change-feed';
import { isUtf8 } from 'node:buffer';
import { Yielder } from './yielder.js';

/** A shorter text is parsed in one go: in a millisecond. */
const LONG_BYTES = 128 * 1024;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
const [SPACE, OPEN_BRACE] = [0x20, 0x7b];
/** Depth of the long lists in a body: it is an array itself, or they are fields of it. */
const DEPTHS = { array: 1, object: 2 } as const;

/**
 * The value of JSON text. It must be UTF-8 (RFC 8259 §8.1); a byte order mark is skipped. The lists of a long text are
 * parsed in pieces, and it yields to the event loop in between.
 * @throws SyntaxError, or RowError of a long text, when it is not JSON.
 */
export async function parseJson(bytes: Uint8Array): Promise<unknown> {
  if (!isUtf8(bytes)) throw new SyntaxError('not UTF-8');
  const marked = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte);
  const json = marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  if (json.length < LONG_BYTES) return JSON.parse(Buffer.from(json).toString());
  return parseLong(json);
}

async function parseLong(json: Uint8Array): Promise<unknown> {
  const yielder = new Yielder();
  let start = 0;
  while (json[start] <= SPACE) start++;
  const isObject = json[start] === OPEN_BRACE;
  const stepped = await SteppedJson.scan(json, isObject ? DEPTHS.object : DEPTHS.array, yielder);
  const value = stepped.rest;
  const lists = isObject ? Object.values(value as object) : [value];
  for (const list of lists) {
    if (Array.isArray(list)) await fill(list, stepped, yielder);
  }
  return value;
}

/** Puts the elements into a list that has only its number. */
async function fill(list: unknown[], stepped: SteppedJson, yielder: Yielder): Promise<void> {
  const pieces = stepped.elements([...list]);
  list.length = 0;
  for (const piece of pieces) {
    for (const element of piece) list.push(element);
    await yielder.yieldIfDue();
  }
}
