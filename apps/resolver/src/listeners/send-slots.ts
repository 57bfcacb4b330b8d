import { EDNS_UDP_BYTES } from '@weir/dns-wire';

/** The callback of a socket when a send has ended. */
export type SendCallback = (error: Error | null) => void;

/** Slots that are allocated at a time: 1.2 MiB. The first chunk is enough, unless many answers end in one turn. */
const CHUNK_SLOTS = 1024;
/**
 * Memory of all slots. It has room for more answers than questions that can be in flight (8192), so all of them may end
 * in one turn of the event loop. Only a kernel that takes no datagrams can fill it.
 */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Buffers of answers that are being sent, shared by all UDP listeners. Node reports the end of a send in a later turn,
 * and sends from the same bytes when the kernel does not take a datagram at once. So a buffer is reused only after its
 * send has ended. Buffers and callbacks are created in chunks, when all are busy, and are kept.
 */
export class SendSlots {
  private readonly buffers: Uint8Array[] = [];
  private readonly callbacks: SendCallback[] = [];
  /** Free slots: a stack. */
  private readonly free: Uint16Array;
  private freeCount = 0;
  private readonly onIdle: (() => void)[] = [];

  /**
   * @param onSent called when a send has ended, with or without an error
   * @param maxBytes memory of all slots, at least one chunk
   */
  constructor(
    private readonly onSent: SendCallback,
    maxBytes: number = MAX_BYTES,
  ) {
    const chunks = Math.floor(maxBytes / (CHUNK_SLOTS * EDNS_UDP_BYTES));
    this.free = new Uint16Array(chunks * CHUNK_SLOTS);
    this.addChunk();
  }

  /** @returns a slot with a copy of the bytes, or −1 when all are busy and there is no memory for more */
  fill(bytes: Uint8Array, length: number): number {
    if (this.freeCount === 0) {
      if (this.buffers.length === this.free.length) return -1;
      this.addChunk();
    }
    const slot = this.free[--this.freeCount];
    const buffer = this.buffers[slot];
    for (let i = 0; i < length; i++) buffer[i] = bytes[i];
    return slot;
  }

  bufferOf(slot: number): Uint8Array {
    return this.buffers[slot];
  }

  /** Must be called once, when the send of the slot has ended. */
  callbackOf(slot: number): SendCallback {
    return this.callbacks[slot];
  }

  /** Resolves when all sends have ended. */
  async idle(): Promise<void> {
    if (this.freeCount === this.buffers.length) return;
    await new Promise<void>((resolve) => this.onIdle.push(resolve));
  }

  private addChunk(): void {
    const memory = new Uint8Array(CHUNK_SLOTS * EDNS_UDP_BYTES);
    for (let i = 0; i < CHUNK_SLOTS; i++) {
      const slot = this.buffers.length;
      this.buffers.push(memory.subarray(i * EDNS_UDP_BYTES, (i + 1) * EDNS_UDP_BYTES));
      this.callbacks.push((error) => {
        this.release(slot);
        this.onSent(error);
      });
      this.free[this.freeCount++] = slot;
    }
  }

  private release(slot: number): void {
    this.free[this.freeCount++] = slot;
    if (this.onIdle.length === 0 || this.freeCount < this.buffers.length) return;
    for (const resolve of this.onIdle.splice(0)) resolve();
  }
}
