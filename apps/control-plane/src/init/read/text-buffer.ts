/** JSON is UTF-8 (RFC 8259 §8.1). A byte order mark is not skipped. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const INITIAL_BYTES = 4_096;

/** Collects the bytes of a text that arrives in chunks. */
export class TextBuffer {
  private bytes = new Uint8Array(INITIAL_BYTES);
  length = 0;

  append(source: Uint8Array, from: number, to: number): void {
    const length = this.length + to - from;
    if (length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.bytes.length * 2));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(source.subarray(from, to), this.length);
    this.length = length;
  }

  /** @throws TypeError when the bytes are not UTF-8. */
  text(from = 0, to = this.length): string {
    return decoder.decode(this.bytes.subarray(from, to));
  }

  clear(): void {
    this.length = 0;
  }
}
