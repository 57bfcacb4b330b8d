import { isUtf8 } from 'node:buffer';
import { JsonSize } from './json-size.js';
import type { SentBody } from './read-request.js';

const FIRST_BLOCK_BYTES = 1_024;
const MAX_BLOCK_BYTES = 65_536;

/**
 * Collects the bytes of a body. A chunk of one byte takes some 550 bytes of memory, so chunks are copied into larger
 * blocks. They need at most twice the bytes of the body, and one block.
 */
export class BodyBlocks {
  /** The last one has room. */
  private readonly blocks: Uint8Array[] = [];
  /** Bytes of the last block. */
  private used = 0;
  length = 0;

  append(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length;) {
      const block = this.blockWithRoom();
      const part = chunk.subarray(from, from + block.length - this.used);
      block.set(part, this.used);
      this.used += part.length;
      this.length += part.length;
      from += part.length;
    }
  }

  /** All bytes in one piece. */
  whole(): Uint8Array {
    return Buffer.concat(this.blocks, this.length);
  }

  private blockWithRoom(): Uint8Array {
    const last = this.blocks.at(-1);
    if (last !== undefined && this.used < last.length) return last;
    const size = Math.min(Math.max(this.length, FIRST_BLOCK_BYTES), MAX_BLOCK_BYTES);
    const block = new Uint8Array(size);
    this.blocks.push(block);
    this.used = 0;
    return block;
  }
}

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
