import {
  EAGAIN,
  EINTR,
  MSG_DONTWAIT,
  MSG_TRUNC,
  CONTROL_BYTES,
  IN6_PKTINFO_IFINDEX,
  IN6_PKTINFO_LOCAL,
  IN_PKTINFO_LOCAL,
  MSG_CONTROLLEN,
  MSG_LEN,
  MSG_NAMELEN,
  NAME_BYTES,
  SOCKADDR_IN6_ADDRESS,
  SOCKADDR_IN_ADDRESS,
  SOCKADDR_PORT,
} from './linux.js';
import { MessageSlots } from './message-slots.js';
import { LOCAL_AT_IPV4, LOCAL_AT_IPV6 } from './socket-address.js';
import type { SystemCalls } from './system-calls.js';
import { BATCH, type UdpSocketHandle } from './udp-socket.js';

/** Longest datagram that is received whole: a query of 4096 bytes behind a PROXY header of as many. */
export const MAX_DATAGRAM_BYTES = 8320;

/** `fe80::/10`, as the first word of an address in the order of the network, read as little-endian. */
const LINK_LOCAL = 0x80fe;
const LINK_LOCAL_MASK = 0xc0ff;

/**
 * Receives up to 64 datagrams of a socket with one system call. What it says about a slot is valid until the next call.
 * Allocates nothing.
 */
export class BatchReceiver {
  /** The bytes of all slots. */
  readonly bytes: Uint8Array;
  /** Why the last `receive` failed; 0 when it did not, or nothing had arrived. */
  errno = 0;
  private readonly slots: MessageSlots;
  private readonly words: Int32Array;
  private readonly isIpv6: boolean;
  /** Words of a route up to the local address. */
  private readonly nameWords: number;
  /** Datagrams of the last batch: their messages are not as they were before. */
  private received = BATCH;

  constructor(
    private readonly calls: SystemCalls,
    private readonly socket: UdpSocketHandle,
  ) {
    this.isIpv6 = socket.family === 6;
    this.nameWords = this.isIpv6 ? LOCAL_AT_IPV6 : LOCAL_AT_IPV4;
    this.slots = new MessageSlots(calls.addressOf, BATCH, MAX_DATAGRAM_BYTES);
    this.bytes = this.slots.bytes;
    this.words = this.slots.words;
  }

  /**
   * Receives what has arrived. After a failure `errno` is set; the next call may succeed, or fail at once too.
   * @param flags `MSG_DONTWAIT`
   * @returns the number of datagrams, 0 to 64
   */
  receive(flags: number): number {
    const { calls, slots, socket } = this;
    for (let i = 0; i < this.received; i++) this.prepare(i);
    // MSG_TRUNC: it tells the length of the whole datagram.
    const count = calls.recvmmsg(socket.fd, slots.address, BATCH, flags | MSG_TRUNC, 0);
    const errno = count < 0 ? calls.errno() : 0;
    this.errno = errno === EAGAIN || errno === EINTR ? 0 : errno;
    this.received = Math.max(count, 0);
    return this.received;
  }

  /** The bytes of a slot, from the datagram's first byte on. Always the same view. */
  bytesOf(slot: number): Uint8Array {
    return this.slots.views[slot];
  }

  /** Length of the whole datagram. Above `MAX_DATAGRAM_BYTES` the slot has only its beginning. */
  lengthOf(slot: number): number {
    return this.words[(this.slots.message(slot) + MSG_LEN) >> 2];
  }

  /** Where the address of the sender begins in `bytes`: 4 bytes, or 16 on a socket of IPv6. */
  senderOffsetOf(slot: number): number {
    return this.slots.name(slot) + (this.isIpv6 ? SOCKADDR_IN6_ADDRESS : SOCKADDR_IN_ADDRESS);
  }

  senderPortOf(slot: number): number {
    const at = this.slots.name(slot) + SOCKADDR_PORT;
    return this.bytes[at] * 256 + this.bytes[at + 1];
  }

  /**
   * Writes the route of the datagram: the socket address of the sender, then the local address as it must stand in the
   * control message of an answer.
   */
  copyRoute(slot: number, route: Int32Array): void {
    const { words, nameWords, slots } = this;
    const name = slots.name(slot) >> 2;
    for (let i = 0; i < nameWords; i++) route[i] = words[name + i];
    if (!this.socket.isWildcard) return;
    const control = slots.control(slot);
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

  /** The kernel reads these as the room that there is, and writes what it has used. */
  private prepare(slot: number): void {
    const message = this.slots.message(slot);
    this.words[(message + MSG_NAMELEN) >> 2] = NAME_BYTES;
    this.words[(message + MSG_CONTROLLEN) >> 2] = this.socket.isWildcard ? CONTROL_BYTES : 0;
  }
}

/** Throws away what a socket has received. @returns how many datagrams */
export function discard(calls: SystemCalls, socket: UdpSocketHandle): number {
  const receiver = new BatchReceiver(calls, socket);
  let sum = 0;
  let count = BATCH;
  while (count === BATCH) sum += count = receiver.receive(MSG_DONTWAIT);
  return sum;
}
