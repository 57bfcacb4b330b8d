import {
  CONTROL_BYTES,
  IOVEC_BASE,
  IOVEC_BYTES,
  IOVEC_LEN,
  MESSAGE_BYTES,
  MSG_CONTROL,
  MSG_IOV,
  MSG_IOVLEN,
  MSG_NAME,
  NAME_BYTES,
} from './linux.js';

/** Keeps the slots from beginning in the same lines of the processor's caches. */
const STAGGER = 64;

/**
 * The memory that recvmmsg or sendmmsg reads and writes: messages, and what each message points to. It is allocated
 * once, because libc has pointers into it.
 */
export class MessageSlots {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The data of each slot. */
  readonly views: readonly Uint8Array[];
  /** Address of the first message. */
  readonly address: number;
  private readonly iovecs: number;
  private readonly names: number;
  private readonly controls: number;
  private readonly data: number;
  private readonly stride: number;

  /** @param dataBytes longest datagram of a slot */
  constructor(
    addressOf: (bytes: Uint8Array) => number,
    readonly count: number,
    readonly dataBytes: number,
  ) {
    this.iovecs = count * MESSAGE_BYTES;
    this.names = this.iovecs + count * IOVEC_BYTES;
    this.controls = this.names + count * NAME_BYTES;
    this.data = this.controls + count * CONTROL_BYTES;
    this.stride = dataBytes + STAGGER;
    const memory = new ArrayBuffer(this.data + count * this.stride);
    this.bytes = new Uint8Array(memory);
    this.words = new Int32Array(memory);
    this.views = Array.from({ length: count }, (_, slot) => {
      const offset = this.data + slot * this.stride;
      return this.bytes.subarray(offset, offset + dataBytes);
    });
    this.address = addressOf(this.bytes);
    const view = new DataView(memory);
    for (let slot = 0; slot < count; slot++) this.connect(view, slot);
  }

  message(slot: number): number {
    return slot * MESSAGE_BYTES;
  }

  iovec(slot: number): number {
    return this.iovecs + slot * IOVEC_BYTES;
  }

  name(slot: number): number {
    return this.names + slot * NAME_BYTES;
  }

  control(slot: number): number {
    return this.controls + slot * CONTROL_BYTES;
  }

  /** Makes the message of a slot point to its socket address, control message and data. */
  private connect(view: DataView, slot: number): void {
    const setPointer = (at: number, target: number): void => {
      view.setBigUint64(at, BigInt(this.address + target), true);
    };
    const message = this.message(slot);
    const iovec = this.iovec(slot);
    setPointer(message + MSG_NAME, this.name(slot));
    setPointer(message + MSG_IOV, iovec);
    view.setBigUint64(message + MSG_IOVLEN, 1n, true);
    setPointer(message + MSG_CONTROL, this.control(slot));
    setPointer(iovec + IOVEC_BASE, this.views[slot].byteOffset);
    view.setBigUint64(iovec + IOVEC_LEN, BigInt(this.dataBytes), true);
  }
}
