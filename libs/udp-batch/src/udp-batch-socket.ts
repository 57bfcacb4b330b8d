import { isIPv6 } from 'node:net';
import { BatchMemory, RECEIVE_BYTES } from './batch-memory.js';
import {
  AF_INET,
  AF_INET6,
  EAGAIN,
  EINTR,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_RECVPKTINFO,
  IPV6_V6ONLY,
  MSG_DONTWAIT,
  MSG_TRUNC,
  SO_RCVBUF,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOL_SOCKET,
} from './constants.js';
import { NAME_BYTES } from './layout.js';
import { LOCAL_AT_IPV4, LOCAL_AT_IPV6, writeRoute } from './route.js';
import { addressWordsOf, encodeSocketAddress, portOf } from './socket-address.js';
import { SystemError, type SystemCalls } from './system-calls.js';

export interface UdpBatchOptions {
  /** Address to listen on, without a zone. It determines the address family. */
  readonly host: string;
  readonly port: number;
  /** Whether `::` leaves IPv4 to another socket. Default: it takes both. */
  readonly ipv6Only?: boolean;
  /** Whether other sockets with this option may have the same port on other addresses (SO_REUSEADDR). */
  readonly reuseAddress?: boolean;
  /** Whether other sockets with this option may have the same port. The kernel then spreads clients over them. */
  readonly reusePort?: boolean;
  /** Size of the receive buffer to ask for. The kernel may grant less. */
  readonly receiveBufferBytes?: number;
}

/** MSG_TRUNC: it tells the length of the whole datagram. */
const RECEIVE_FLAGS = MSG_DONTWAIT | MSG_TRUNC;
/** Longest datagram that is received whole. */
export const MAX_DATAGRAM_BYTES = RECEIVE_BYTES;
/** Most datagrams of one system call. */
export const BATCH = 64;

/**
 * A UDP socket of Linux that receives and sends up to 64 datagrams with one system call. Answers leave from the address
 * that the query was sent to (IP_PKTINFO), also when the socket listens on a wildcard. Reading and writing allocate
 * nothing.
 *
 * `receive` fills the receive slots 0 to n − 1. Each answer is put into a send slot with `queue`; `flush` sends them.
 */
export class UdpBatchSocket {
  /** The bytes of all slots. */
  readonly bytes: Uint8Array;
  /** The port that it listens on. */
  readonly port: number;
  private readonly memory: BatchMemory;
  private readonly receiveAddress: number;
  private readonly sendAddress: number;
  /** The address that it is bound to, as words of a route; 0 for a wildcard. */
  private readonly localWords: Int32Array;
  private queued = 0;

  private constructor(
    private readonly calls: SystemCalls,
    /** The descriptor. Its owner closes it. */
    readonly fd: number,
    readonly family: 4 | 6,
  ) {
    this.memory = new BatchMemory(calls.addressOf, BATCH, family);
    this.bytes = this.memory.bytes;
    this.receiveAddress = this.memory.receiveAddress;
    this.sendAddress = this.memory.sendAddress;
    const local = localAddress(calls, fd);
    this.port = portOf(local);
    this.localWords = addressWordsOf(local, family);
  }

  /** Opens and binds a socket. @throws SystemError such as EADDRINUSE, EADDRNOTAVAIL or EACCES */
  static open(calls: SystemCalls, options: UdpBatchOptions): UdpBatchSocket {
    const family = isIPv6(options.host) ? 6 : 4;
    const domain = family === 6 ? AF_INET6 : AF_INET;
    const fd = calls.socket(domain, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw new SystemError('socket', calls.errno());
    try {
      configure(calls, fd, family, options);
      const address = encodeSocketAddress(options.host, options.port);
      check('bind', calls, calls.bind(fd, address, address.length));
      return new UdpBatchSocket(calls, fd, family);
    } catch (error) {
      calls.close(fd);
      throw error;
    }
  }

  /**
   * Receives what has arrived, without waiting. What `offsetOf` and the like say about the previous batch is then void.
   * @returns the number of datagrams, 0 to 64
   */
  receive(): number {
    const { calls, memory } = this;
    memory.resetReceiveSlots();
    const count = calls.recvmmsg(this.fd, this.receiveAddress, BATCH, RECEIVE_FLAGS, 0);
    // A failure means that nothing has arrived, or tells of an earlier answer (ICMP). The next call reads on.
    memory.received = Math.max(count, 0);
    return memory.received;
  }

  /** Where the datagram of a receive slot begins in `bytes`. */
  offsetOf(slot: number): number {
    return this.memory.offsetOf(slot);
  }

  /** Length of the datagram. Above `MAX_DATAGRAM_BYTES` the slot has only its beginning. */
  lengthOf(slot: number): number {
    return this.memory.lengthOf(slot);
  }

  /** Where the address of the sender begins in `bytes`: 4 bytes, or 16 on a socket of IPv6. */
  senderOffsetOf(slot: number): number {
    return this.memory.senderOffsetOf(slot);
  }

  senderPortOf(slot: number): number {
    return this.memory.senderPortOf(slot);
  }

  /** The bytes of a receive slot, from the datagram's first byte on. Always the same view. */
  receiveSlotBytes(slot: number): Uint8Array {
    return this.memory.receiveViews[slot];
  }

  /** Writes the route of the datagram to `route`. */
  copyRoute(slot: number, route: Int32Array): void {
    this.memory.copyRoute(slot, route);
  }

  /**
   * Writes the route to a sender whose datagram was received otherwise. The answer leaves from the address that the
   * socket is bound to; on a wildcard, from one of the kernel's choice.
   * @param words the address in the order of the network: one word for IPv4, four for IPv6
   */
  writeRoute(route: Int32Array, family: 4 | 6, words: Uint32Array, port: number): void {
    const isIpv6 = this.family === 6;
    writeRoute(route, family, words, port, isIpv6);
    const start = isIpv6 ? LOCAL_AT_IPV6 : LOCAL_AT_IPV4;
    for (let i = 0; i < this.localWords.length; i++) route[start + i] = this.localWords[i];
  }

  /** The datagrams in send slots. */
  get unsent(): number {
    return this.queued;
  }

  /** Whether there is a free send slot. */
  get hasRoom(): boolean {
    return this.queued < BATCH;
  }

  /** Puts a copy of the first `length` bytes of `answer` into a send slot. There must be room. */
  queue(route: Int32Array, answer: Uint8Array, length: number): void {
    this.memory.fillSendSlot(this.queued++, route, answer, length);
  }

  /**
   * Sends what is in the send slots, without waiting.
   * @param onFailed called with the slot of each datagram that the kernel did not take. `isBusy`: it has no room now,
   *   and may take the datagram later
   */
  flush(onFailed: (slot: number, isBusy: boolean) => void): void {
    const { calls, queued } = this;
    let at = 0;
    while (at < queued) {
      const messages = this.sendAddress + this.memory.sendMessageOffset(at);
      const sent = calls.sendmmsg(this.fd, messages, queued - at, MSG_DONTWAIT);
      if (sent > 0) {
        at += sent;
        continue;
      }
      const errno = calls.errno();
      if (errno !== EINTR) onFailed(at++, errno === EAGAIN);
    }
    this.queued = 0;
  }

  /** The datagram of a send slot. */
  sendSlotBytes(slot: number): Uint8Array {
    return this.memory.sendSlotBytes(slot);
  }

  /** Where the datagram of a send slot goes, without the local address. */
  sendSlotRoute(slot: number): Int32Array {
    return this.memory.sendSlotRoute(slot);
  }

  /** Size of the receive buffer that the kernel granted. */
  get receiveBufferBytes(): number {
    const value = new Int32Array(1);
    const length = Int32Array.of(value.byteLength);
    const { calls } = this;
    check('getsockopt', calls, calls.getsockopt(this.fd, SOL_SOCKET, SO_RCVBUF, value, length));
    // Linux reports twice the size that it granted, because it needs space for its own records (socket(7)).
    return value[0] / 2;
  }

  close(): void {
    this.calls.close(this.fd);
  }
}

const OPTION_BYTES = 4;

function configure(calls: SystemCalls, fd: number, family: 4 | 6, options: UdpBatchOptions): void {
  const { ipv6Only = false, reuseAddress = false, reusePort = false, receiveBufferBytes } = options;
  const set = (level: number, name: number, value: number): void => {
    const bytes = new Uint8Array(Int32Array.of(value).buffer);
    check('setsockopt', calls, calls.setsockopt(fd, level, name, bytes, OPTION_BYTES));
  };
  if (family === 4) set(IPPROTO_IP, IP_PKTINFO, 1);
  else {
    set(IPPROTO_IPV6, IPV6_V6ONLY, ipv6Only ? 1 : 0);
    set(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  }
  if (reuseAddress) set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (reusePort) set(SOL_SOCKET, SO_REUSEPORT, 1);
  if (receiveBufferBytes !== undefined) set(SOL_SOCKET, SO_RCVBUF, receiveBufferBytes);
}

function localAddress(calls: SystemCalls, fd: number): Uint8Array {
  const address = new Uint8Array(NAME_BYTES);
  const length = Int32Array.of(NAME_BYTES);
  check('getsockname', calls, calls.getsockname(fd, address, length));
  return address;
}

function check(syscall: string, calls: SystemCalls, result: number): void {
  if (result < 0) throw new SystemError(syscall, calls.errno());
}
