import {
  type BoundSocketOptions,
  check,
  localNameOf,
  type NewSocket,
  openBound,
  setBytes,
  setOption,
} from './bound-socket.js';
import * as linux from './linux.js';
import { addressOf, encodeSocketAddress, isUnspecified, portOf } from './socket-address.js';
import type { SystemCalls } from './system-calls.js';

/** Most datagrams of one system call. */
export const BATCH = 64;

export interface UdpSocketOptions extends BoundSocketOptions {
  /** Size of the receive buffer to ask for. The kernel may grant less. */
  readonly receiveBufferBytes?: number;
  /** Longest wait for room to send. Default: no limit. */
  readonly timeoutMs?: number;
  /** Where it is to be connected to, see `UdpSocketHandle`. Default: nowhere. */
  readonly peer?: { readonly address: string; readonly port: number };
}

/** What other threads need to use a socket: descriptors belong to the process. */
export interface UdpSocketHandle {
  readonly fd: number;
  readonly family: 4 | 6;
  /** Whether it listens on all addresses. Then each route has the address that was asked (IP_PKTINFO). */
  readonly isWildcard: boolean;
  /** Whether it is connected: then all datagrams go to the peer, and routes are not looked at. Default: no. */
  readonly isConnected?: boolean;
}

/**
 * A UDP socket of Linux, to be used with `BatchReceiver` and `BatchSender`. Answers leave from the address that was
 * asked, also on a wildcard.
 */
export class UdpSocket implements UdpSocketHandle {
  /** The port that it listens on. */
  readonly port: number;
  /** The local address, in hexadecimal digits. Of a connected socket, the one that the kernel has chosen. */
  readonly localAddress: string;

  private constructor(
    private readonly calls: SystemCalls,
    readonly fd: number,
    readonly family: 4 | 6,
    readonly isWildcard: boolean,
  ) {
    const local = localNameOf(calls, fd);
    this.port = portOf(local);
    this.localAddress = addressOf(local, family).toHex();
  }

  /**
   * Opens and binds a socket, and connects it where there is a peer. Until it is connected, datagrams of others may
   * arrive.
   * @throws SystemError such as EADDRINUSE, EADDRNOTAVAIL, EACCES or ENETUNREACH
   */
  static open(calls: SystemCalls, options: UdpSocketOptions): UdpSocket {
    const isWildcardOf = ({ address, family }: NewSocket): boolean =>
      options.peer === undefined && isUnspecified(address, family);
    return openBound(
      calls,
      linux.SOCK_DGRAM,
      options,
      (socket) => configure(calls, socket, isWildcardOf(socket), options),
      (socket) => {
        const { fd, family } = socket;
        if (options.peer !== undefined) connect(calls, fd, options.peer);
        return new UdpSocket(calls, fd, family, isWildcardOf(socket));
      },
    );
  }

  /** Size of the receive buffer that the kernel granted. */
  get receiveBufferBytes(): number {
    const value = new Int32Array(1);
    const length = Int32Array.of(value.byteLength);
    const { calls, fd } = this;
    const result = calls.getsockopt(fd, linux.SOL_SOCKET, linux.SO_RCVBUF, value, length);
    check('getsockopt', calls, result);
    // Linux reports twice the size that it granted, because it needs space for its own records (socket(7)).
    return value[0] / 2;
  }

  /** No socket that is opened from now on gets the same port. libuv allows it for a descriptor that it is given. */
  keepPort(): void {
    setOption(this.calls, this.fd, linux.SOL_SOCKET, linux.SO_REUSEADDR, 0);
  }

  close(): void {
    this.calls.close(this.fd);
  }
}

function connect(calls: SystemCalls, fd: number, peer: { address: string; port: number }): void {
  const address = encodeSocketAddress(peer.address, peer.port);
  check('connect', calls, calls.connect(fd, address, address.length));
}

function configure(
  calls: SystemCalls,
  { fd, family }: NewSocket,
  isWildcard: boolean,
  { receiveBufferBytes, timeoutMs }: UdpSocketOptions,
): void {
  // Each datagram tells which address it was sent to.
  if (isWildcard) {
    if (family === 4) setOption(calls, fd, linux.IPPROTO_IP, linux.IP_PKTINFO, 1);
    else setOption(calls, fd, linux.IPPROTO_IPV6, linux.IPV6_RECVPKTINFO, 1);
  }
  if (receiveBufferBytes !== undefined) {
    setOption(calls, fd, linux.SOL_SOCKET, linux.SO_RCVBUF, receiveBufferBytes);
  }
  if (timeoutMs !== undefined) {
    // struct timeval: seconds and microseconds.
    const timeout = BigInt64Array.of(
      BigInt(Math.floor(timeoutMs / 1000)),
      BigInt((timeoutMs % 1000) * 1000),
    );
    const bytes = new Uint8Array(timeout.buffer);
    setBytes(calls, fd, linux.SOL_SOCKET, linux.SO_SNDTIMEO, bytes);
  }
}

/** Datagrams that the kernel has dropped because the receive buffer of the socket was full. 0 before Linux 4.12. */
export function kernelDropsOf(calls: SystemCalls, fd: number): number {
  const values = new Int32Array(linux.SK_MEMINFO_VARS);
  const length = Int32Array.of(values.byteLength);
  calls.getsockopt(fd, linux.SOL_SOCKET, linux.SO_MEMINFO, values, length);
  return values[linux.SK_MEMINFO_DROPS] >>> 0;
}
