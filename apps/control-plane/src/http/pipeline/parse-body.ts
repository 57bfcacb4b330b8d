import { isUtf8 } from 'node:buffer';
import { BodyBlocks } from './body-blocks.js';
import { JsonSize } from './json-size.js';
import type { SentBody } from './read-request.js';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Reads and parses a body as a whole. Invalid JSON is reported later, together with all other faults. JSON that would
 * take long to parse is not parsed.
 */
export async function parseBody(body: AsyncIterable<Uint8Array>): Promise<SentBody> {
  const size = new JsonSize();
  const blocks = new BodyBlocks();
  for await (const chunk of body) {
    size.push(chunk);
    // The rest is not read.
    if (size.isTooLarge) return { state: 'tooLarge' };
    blocks.append(chunk);
  }
  return parse(blocks.whole());
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
