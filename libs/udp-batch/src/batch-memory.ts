import { IP_PKTINFO, IPPROTO_IP, IPPROTO_IPV6, IPV6_PKTINFO } from './constants.js';
import {
  CMSG_LEN,
  CMSG_LEVEL,
  CMSG_TYPE,
  CONTROL_BYTES,
  CMSG_DATA,
  controlSpace,
  IN6_PKTINFO_BYTES,
  IN6_PKTINFO_IFINDEX,
  IN6_PKTINFO_LOCAL,
  IN_PKTINFO_BYTES,
  IN_PKTINFO_LOCAL,
  IOVEC_BASE,
  IOVEC_BYTES,
  IOVEC_LEN,
  MESSAGE_BYTES,
  MSG_CONTROL,
  MSG_CONTROLLEN,
  MSG_IOV,
  MSG_IOVLEN,
  MSG_LEN,
  MSG_NAME,
  MSG_NAMELEN,
  NAME_BYTES,
  SOCKADDR_IN6_ADDRESS,
  SOCKADDR_IN_ADDRESS,
  SOCKADDR_PORT,
} from './layout.js';
import { LOCAL_AT_IPV4, LOCAL_AT_IPV6, ROUTE_WORDS } from './route.js';

/** Longest datagram that is received whole: a query of 4096 bytes behind a PROXY header of as many. */
export const RECEIVE_BYTES = 8320;
/** Longest answer. */
const SEND_BYTES = 1280;
/** Keeps the slots from beginning in the same lines of the processor's caches. */
const STAGGER = 64;

/** `fe80::/10`, as the first word of an address in the order of the network, read as little-endian. */
const LINK_LOCAL = 0x80fe;
const LINK_LOCAL_MASK = 0xc0ff;

const LOCAL_WORDS_IPV4 = 1;
/** The address and the index of its interface. */
const LOCAL_WORDS_IPV6 = 5;

/** One direction of a batch: offsets of its messages, and of what each message points to. */
class Slots {
  readonly messages: number;
  readonly iovecs: number;
  readonly names: number;
  readonly controls: number;
  readonly end: number;
  private readonly data: number;
  private readonly stride: number;

  constructor(
    start: number,
    readonly count: number,
    readonly dataBytes: number,
  ) {
    this.messages = start;
    this.iovecs = this.messages + count * MESSAGE_BYTES;
    this.names = this.iovecs + count * IOVEC_BYTES;
    this.controls = this.names + count * NAME_BYTES;
    this.data = this.controls + count * CONTROL_BYTES;
    this.stride = dataBytes + STAGGER;
    this.end = this.data + count * this.stride;
  }

  message(slot: number): number {
    return this.messages + slot * MESSAGE_BYTES;
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

  dataAt(slot: number): number {
    return this.data + slot * this.stride;
  }
}

/**
 * The memory that recvmmsg and sendmmsg read and write. It is allocated once: libc keeps pointers into it.
 */
export class BatchMemory {
  readonly bytes: Uint8Array;
  /** Addresses of the first message of each direction. */
  readonly receiveAddress: number;
  readonly sendAddress: number;
  /** Views of the receive slots. */
  readonly receiveViews: readonly Uint8Array[];
  /** Datagrams of the last batch: their messages are not as they were before. */
  received = 0;
  private readonly words: Int32Array;
  private readonly receiving: Slots;
  private readonly sending: Slots;
  private readonly isIpv6: boolean;
  private readonly nameWords: number;

  constructor(addressOf: (bytes: Uint8Array) => number, count: number, family: 4 | 6) {
    this.isIpv6 = family === 6;
    this.nameWords = this.isIpv6 ? LOCAL_AT_IPV6 : LOCAL_AT_IPV4;
    this.receiving = new Slots(0, count, RECEIVE_BYTES);
    this.sending = new Slots(this.receiving.end, count, SEND_BYTES);
    const memory = new ArrayBuffer(this.sending.end);
    this.bytes = new Uint8Array(memory);
    this.words = new Int32Array(memory);
    this.receiveViews = Array.from({ length: count }, (_, slot) => {
      const offset = this.receiving.dataAt(slot);
      return this.bytes.subarray(offset, offset + RECEIVE_BYTES);
    });
    const base = addressOf(this.bytes);
    this.receiveAddress = base + this.receiving.messages;
    this.sendAddress = base + this.sending.messages;
    const view = new DataView(memory);
    for (let i = 0; i < count; i++) {
      connect(view, base, this.receiving, i);
      connect(view, base, this.sending, i);
      this.prepareReceiveSlot(i);
      this.prepareSendSlot(i);
    }
  }

  /** What the kernel has written to the messages of the last batch, and reads as sizes for the next. */
  resetReceiveSlots(): void {
    for (let i = 0; i < this.received; i++) this.prepareReceiveSlot(i);
  }

  offsetOf(slot: number): number {
    return this.receiving.dataAt(slot);
  }

  /** Of the whole datagram, also where it did not fit the slot (MSG_TRUNC). */
  lengthOf(slot: number): number {
    return this.words[(this.receiving.message(slot) + MSG_LEN) >> 2];
  }

  senderOffsetOf(slot: number): number {
    const address = this.isIpv6 ? SOCKADDR_IN6_ADDRESS : SOCKADDR_IN_ADDRESS;
    return this.receiving.name(slot) + address;
  }

  senderPortOf(slot: number): number {
    const at = this.receiving.name(slot) + SOCKADDR_PORT;
    return this.bytes[at] * 256 + this.bytes[at + 1];
  }

  /** The route has the socket address, then the local address as it must stand in the control message of an answer. */
  copyRoute(slot: number, route: Int32Array): void {
    const { words, nameWords } = this;
    const name = this.receiving.name(slot) >> 2;
    for (let i = 0; i < nameWords; i++) route[i] = words[name + i];
    const control = this.receiving.control(slot);
    if (!this.isIpv6) {
      route[nameWords] = words[(control + IN_PKTINFO_LOCAL) >> 2];
      return;
    }
    const local = (control + IN6_PKTINFO_LOCAL) >> 2;
    for (let i = 0; i < 4; i++) route[nameWords + i] = words[local + i];
    // The kernel chooses the interface by its routes. Only a link-local address means nothing without it.
    const isLinkLocal = (words[local] & LINK_LOCAL_MASK) === LINK_LOCAL;
    route[nameWords + 4] = isLinkLocal ? words[(control + IN6_PKTINFO_IFINDEX) >> 2] : 0;
  }

  fillSendSlot(slot: number, route: Int32Array, answer: Uint8Array, length: number): void {
    const { words, bytes, nameWords, isIpv6, sending } = this;
    const name = sending.name(slot) >> 2;
    for (let i = 0; i < nameWords; i++) words[name + i] = route[i];
    const local = (sending.control(slot) + (isIpv6 ? IN6_PKTINFO_LOCAL : IN_PKTINFO_LOCAL)) >> 2;
    const localWords = isIpv6 ? LOCAL_WORDS_IPV6 : LOCAL_WORDS_IPV4;
    for (let i = 0; i < localWords; i++) words[local + i] = route[nameWords + i];
    const data = sending.dataAt(slot);
    for (let i = 0; i < length; i++) bytes[data + i] = answer[i];
    words[(sending.iovec(slot) + IOVEC_LEN) >> 2] = length;
  }

  sendSlotBytes(slot: number): Uint8Array {
    const data = this.sending.dataAt(slot);
    const length = this.words[(this.sending.iovec(slot) + IOVEC_LEN) >> 2];
    return this.bytes.subarray(data, data + length);
  }

  sendSlotRoute(slot: number): Int32Array {
    const name = this.sending.name(slot) >> 2;
    const route = new Int32Array(ROUTE_WORDS);
    route.set(this.words.subarray(name, name + this.nameWords));
    return route;
  }

  /** Offset of a message to send from the first one. */
  sendMessageOffset(slot: number): number {
    return slot * MESSAGE_BYTES;
  }

  /** The kernel reads these as the room that there is, and writes what it has used. */
  private prepareReceiveSlot(slot: number): void {
    const message = this.receiving.message(slot);
    this.words[(message + MSG_NAMELEN) >> 2] = NAME_BYTES;
    this.words[(message + MSG_CONTROLLEN) >> 2] = CONTROL_BYTES;
  }

  private prepareSendSlot(slot: number): void {
    const { words, sending, isIpv6 } = this;
    const dataBytes = isIpv6 ? IN6_PKTINFO_BYTES : IN_PKTINFO_BYTES;
    const message = sending.message(slot);
    words[(message + MSG_NAMELEN) >> 2] = this.nameWords * 4;
    words[(message + MSG_CONTROLLEN) >> 2] = controlSpace(dataBytes);
    const control = sending.control(slot);
    words[(control + CMSG_LEN) >> 2] = CMSG_DATA + dataBytes;
    words[(control + CMSG_LEVEL) >> 2] = isIpv6 ? IPPROTO_IPV6 : IPPROTO_IP;
    words[(control + CMSG_TYPE) >> 2] = isIpv6 ? IPV6_PKTINFO : IP_PKTINFO;
  }
}

/** Makes the message of a slot point to its socket address, control message and data. */
function connect(view: DataView, base: number, slots: Slots, slot: number): void {
  const setPointer = (at: number, target: number): void => {
    view.setBigUint64(at, BigInt(base + target), true);
  };
  const message = slots.message(slot);
  const iovec = slots.iovec(slot);
  setPointer(message + MSG_NAME, slots.name(slot));
  setPointer(message + MSG_IOV, iovec);
  view.setBigUint64(message + MSG_IOVLEN, 1n, true);
  setPointer(message + MSG_CONTROL, slots.control(slot));
  setPointer(iovec + IOVEC_BASE, slots.dataAt(slot));
  view.setBigUint64(iovec + IOVEC_LEN, BigInt(slots.dataBytes), true);
}
