import type { Socket } from 'node:net';

const FIRST_BYTES = 512;

/**
 * Collects what a connection sends in one tick of the event loop, and sends it with one write: one system call, and one
 * TLS record.
 */
export class TickWriter {
  private bytes = Buffer.allocUnsafe(0);
  private length = 0;
  private isScheduled = false;

  /** @param onFlush called when the tick is over, and when what it has sent has left this process */
  constructor(
    private readonly socket: Socket,
    private readonly onFlush: () => void,
  ) {}

  /** Makes room for this many bytes, which follow before anything else. They are sent when the tick is over. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, FIRST_BYTES, 2 * this.bytes.length));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    this.flushLater();
  }

  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  uint16(value: number): void {
    this.length = this.bytes.writeUInt16BE(value, this.length);
  }

  uint24(value: number): void {
    this.length = this.bytes.writeUIntBE(value, this.length, 3);
  }

  uint32(value: number): void {
    this.length = this.bytes.writeUInt32BE(value, this.length);
  }

  copy(source: Uint8Array, start: number, end: number): void {
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** Calls `onFlush` when the tick is over. */
  flushLater(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    process.nextTick(this.flush);
  }

  /** Sends what there is. A client that has gone is no error. */
  readonly flush = (): void => {
    this.isScheduled = false;
    if (this.socket.destroyed) return;
    this.send();
    this.onFlush();
  };

  /** Sends what there is, and nothing behind it. */
  end(): void {
    this.send();
    this.socket.end();
    this.onFlush();
  }

  private send(): void {
    const { socket, length } = this;
    if (length === 0) return;
    const sent = this.bytes.subarray(0, length);
    this.bytes = Buffer.allocUnsafe(0);
    this.length = 0;
    // A write behind the end would destroy the socket, with all that is still to be sent.
    if (socket.writable) socket.write(sent, this.onFlush);
  }
}
