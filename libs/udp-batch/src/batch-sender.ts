import {
  EAGAIN,
  EINTR,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_PKTINFO,
  MSG_DONTWAIT,
  CMSG_DATA,
  CMSG_LEN,
  CMSG_LEVEL,
  CMSG_TYPE,
  controlSpace,
  IN6_PKTINFO_BYTES,
  IN6_PKTINFO_LOCAL,
  IN_PKTINFO_BYTES,
  IN_PKTINFO_LOCAL,
  IOVEC_LEN,
  MSG_CONTROLLEN,
  MSG_NAMELEN,
} from './linux.js';
import { MessageSlots } from './message-slots.js';
import { LOCAL_AT_IPV4, LOCAL_AT_IPV6 } from './socket-address.js';
import type { SystemCalls } from './system-calls.js';
import { BATCH, type UdpSocketHandle } from './udp-socket.js';

/** Longest datagram to send. */
const SEND_BYTES = 1280;

/** An IPv4 address; an IPv6 address and the index of its interface. */
const LOCAL_WORDS_IPV4 = 1;
const LOCAL_WORDS_IPV6 = 5;

/** Sends up to 64 datagrams of a socket with one system call. Allocates nothing. */
export class BatchSender {
  private readonly slots: MessageSlots;
  private readonly isIpv6: boolean;
  private readonly nameWords: number;
  private queued = 0;

  constructor(
    private readonly calls: SystemCalls,
    private readonly socket: UdpSocketHandle,
    /** `MSG_DONTWAIT`; 0 to wait for room as long as the socket lets it. */
    private readonly flags: number,
  ) {
    this.isIpv6 = socket.family === 6;
    this.nameWords = nameWordsOf(socket);
    this.slots = new MessageSlots(calls.addressOf, BATCH, SEND_BYTES);
    for (let i = 0; i < BATCH; i++) this.prepare(i);
  }

  /** Whether there is a free slot. */
  get hasRoom(): boolean {
    return this.queued < BATCH;
  }

  /** The bytes of the next free slot. There must be room. */
  get next(): Uint8Array {
    return this.slots.views[this.queued];
  }

  /** Puts a copy of the first `length` bytes of `answer` into a slot, unless they are in `next`. There must be room. */
  queue(route: Int32Array, answer: Uint8Array, length: number): void {
    const { slots, nameWords, isIpv6 } = this;
    const { words } = slots;
    const slot = this.queued++;
    const name = slots.name(slot) >> 2;
    for (let i = 0; i < nameWords; i++) words[name + i] = route[i];
    if (this.socket.isWildcard) {
      const local = (slots.control(slot) + (isIpv6 ? IN6_PKTINFO_LOCAL : IN_PKTINFO_LOCAL)) >> 2;
      const localWords = isIpv6 ? LOCAL_WORDS_IPV6 : LOCAL_WORDS_IPV4;
      for (let i = 0; i < localWords; i++) words[local + i] = route[nameWords + i];
    }
    const bytes = slots.views[slot];
    if (answer !== bytes) for (let i = 0; i < length; i++) bytes[i] = answer[i];
    words[(slots.iovec(slot) + IOVEC_LEN) >> 2] = length;
  }

  /**
   * Sends what is in the slots.
   * @param onFailed called for each datagram that the kernel did not take. `isBusy`: it has no room now
   */
  flush(onFailed: (isBusy: boolean) => void): void {
    const { calls, queued, slots, socket } = this;
    let { flags } = this;
    let at = 0;
    while (at < queued) {
      const messages = slots.address + slots.message(at);
      const sent = calls.sendmmsg(socket.fd, messages, queued - at, flags);
      if (sent > 0) {
        at += sent;
        continue;
      }
      const errno = calls.errno();
      if (errno === EINTR) continue;
      // It waits once, not for each datagram.
      if (errno === EAGAIN) flags |= MSG_DONTWAIT;
      onFailed(errno === EAGAIN);
      at++;
    }
    this.queued = 0;
  }

  private prepare(slot: number): void {
    const { slots, isIpv6 } = this;
    const { words } = slots;
    const dataBytes = isIpv6 ? IN6_PKTINFO_BYTES : IN_PKTINFO_BYTES;
    const message = slots.message(slot);
    words[(message + MSG_NAMELEN) >> 2] = this.nameWords * 4;
    words[(message + MSG_CONTROLLEN) >> 2] = this.socket.isWildcard ? controlSpace(dataBytes) : 0;
    const control = slots.control(slot);
    words[(control + CMSG_LEN) >> 2] = CMSG_DATA + dataBytes;
    words[(control + CMSG_LEVEL) >> 2] = isIpv6 ? IPPROTO_IPV6 : IPPROTO_IP;
    words[(control + CMSG_TYPE) >> 2] = isIpv6 ? IPV6_PKTINFO : IP_PKTINFO;
  }
}

/** To the peer of a connected socket the kernel has a route already, unless a datagram has an address of its own. */
function nameWordsOf({ family, isConnected = false }: UdpSocketHandle): number {
  if (isConnected) return 0;
  return family === 6 ? LOCAL_AT_IPV6 : LOCAL_AT_IPV4;
}
