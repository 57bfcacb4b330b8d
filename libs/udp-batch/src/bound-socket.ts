import { isIPv6 } from 'node:net';
import * as linux from './linux.js';
import { encodeSocketAddress } from './socket-address.js';
import { SystemError, type SystemCalls } from './system-calls.js';

export interface BoundSocketOptions {
  /** Local address; a link-local one with its zone. It determines the address family. */
  readonly host: string;
  readonly port: number;
  /** Whether `::` leaves IPv4 to another socket. Default: it takes both. */
  readonly ipv6Only?: boolean;
  /** Whether other sockets with this option may have the same port. The kernel then spreads clients over them. */
  readonly reusePort?: boolean;
}

/** A socket that is not bound yet. */
export interface NewSocket {
  readonly fd: number;
  readonly family: 4 | 6;
  /** The address that it is going to be bound to. */
  readonly address: Uint8Array;
}

/**
 * Opens a socket and binds it.
 * @param configure sets more options before it is bound
 * @param finish after that; its result is returned
 * @throws SystemError such as EADDRINUSE, EADDRNOTAVAIL or EACCES
 */
export function openBound<T>(
  calls: SystemCalls,
  type: number,
  options: BoundSocketOptions,
  configure: (socket: NewSocket) => void,
  finish: (socket: NewSocket) => T,
): T {
  const { ipv6Only = false, reusePort = false } = options;
  const [host] = options.host.split('%', 1);
  const family = isIPv6(host) ? 6 : 4;
  const domain = family === 6 ? linux.AF_INET6 : linux.AF_INET;
  const address = encodeSocketAddress(options.host, options.port);
  const fd = calls.socket(domain, type | linux.SOCK_CLOEXEC, 0);
  if (fd < 0) throw new SystemError('socket', calls.errno());
  const socket: NewSocket = { fd, family, address };
  try {
    if (family === 6) setOption(calls, fd, linux.IPPROTO_IPV6, linux.IPV6_V6ONLY, ipv6Only ? 1 : 0);
    if (reusePort) setOption(calls, fd, linux.SOL_SOCKET, linux.SO_REUSEPORT, 1);
    configure(socket);
    check('bind', calls, calls.bind(fd, address, address.length));
    return finish(socket);
  } catch (error) {
    calls.close(fd);
    throw error;
  }
}

/** The local address and port, as `sockaddr_in` or `sockaddr_in6`. */
export function localNameOf(calls: SystemCalls, fd: number): Uint8Array {
  const name = new Uint8Array(linux.NAME_BYTES);
  check('getsockname', calls, calls.getsockname(fd, name, Int32Array.of(linux.NAME_BYTES)));
  return name;
}

export function setOption(
  calls: SystemCalls,
  fd: number,
  level: number,
  name: number,
  value: number,
): void {
  setBytes(calls, fd, level, name, new Uint8Array(Int32Array.of(value).buffer));
}

export function setBytes(
  calls: SystemCalls,
  fd: number,
  level: number,
  name: number,
  value: Uint8Array,
): void {
  check('setsockopt', calls, calls.setsockopt(fd, level, name, value, value.length));
}

/** @throws SystemError when the result of that call says so */
export function check(syscall: string, calls: SystemCalls, result: number): void {
  if (result < 0) throw new SystemError(syscall, calls.errno());
}
