import { isUtf8 } from 'node:buffer';
import { JsonSize } from './json-size.js';
import type { SentBody } from './read-request.js';

const INITIAL_BYTES = 1_024;

/**
 * Collects the bytes of a text that arrives in chunks, in one piece: a chunk of one byte takes some 550 bytes of memory.
 * It needs at most twice the bytes, and for a moment, while it grows, three times.
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

const BYTE_ORDER_MARK = '\ufeff';

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
    if (size.isTooLarge) return { state: 'tooLarge' };
    bytes.append(chunk);
  }
  return parse(bytes.view());
}

/** It must be UTF-8 (RFC 8259 §8.1); a byte order mark is skipped. */
function parse(bytes: Uint8Array): SentBody {
  if (!isUtf8(bytes)) return { state: 'invalid' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  try {
    return {
      state: 'json',
      value: JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text),
    };
  } catch {
    return { state: 'invalid' };
  }
}
