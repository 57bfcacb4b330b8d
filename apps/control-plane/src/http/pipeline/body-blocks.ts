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
