import { EDNS_UDP_BYTES } from '@weir/dns-wire';

/** The callback of a socket when a send has ended. */
export type SendCallback = (error: Error | null) => void;

/**
 * Buffers of answers that are being sent. When the kernel does not take a datagram at once, it is sent later from the
 * same bytes, so a buffer is reused only after its send has ended. The callbacks are created in advance.
 */
export class SendSlots {
  private readonly buffers: Uint8Array[];
  private readonly callbacks: SendCallback[];
  private readonly free: Uint16Array;
  private freeCount: number;

  /** @param onSent called when a send has ended, with or without an error */
  constructor(count: number, onSent: SendCallback) {
    const memory = new Uint8Array(count * EDNS_UDP_BYTES);
    this.free = Uint16Array.from({ length: count }, (_, i) => i);
    this.freeCount = count;
    this.buffers = Array.from({ length: count }, (_, i) =>
      memory.subarray(i * EDNS_UDP_BYTES, (i + 1) * EDNS_UDP_BYTES),
    );
    this.callbacks = this.buffers.map((_, i) => (error: Error | null) => {
      this.free[this.freeCount++] = i;
      onSent(error);
    });
  }

  /** Number of sends that have not ended. */
  get busy(): number {
    return this.buffers.length - this.freeCount;
  }

  /** @returns a slot with a copy of the bytes, or −1 when all are busy */
  fill(bytes: Uint8Array, length: number): number {
    if (this.freeCount === 0) return -1;
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
}
