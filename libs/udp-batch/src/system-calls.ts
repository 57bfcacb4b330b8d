import type * as Koffi from 'koffi';
import { createRequire } from 'node:module';
import { endianness } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { AF_INET, EAGAIN, EDESTADDRREQ, MSG_DONTWAIT, SOCK_CLOEXEC, SOCK_DGRAM } from './linux.js';
import { MessageSlots } from './message-slots.js';

/** The calls of libc that batches and shared memory need. Addresses of memory are numbers. */
export interface SystemCalls {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  listen(fd: number, backlog: number): number;
  connect(fd: number, address: Uint8Array, length: number): number;
  getsockname(fd: number, address: Uint8Array, length: Int32Array): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array, length: number): number;
  getsockopt(
    fd: number,
    level: number,
    name: number,
    value: Int32Array,
    length: Int32Array,
  ): number;
  recvmmsg(fd: number, messages: number, count: number, flags: number, timeout: number): number;
  sendmmsg(fd: number, messages: number, count: number, flags: number): number;
  inet_pton(family: number, text: string, address: Uint8Array): number;
  epoll_create1(flags: number): number;
  epoll_ctl(epoll: number, operation: number, fd: number, event: Uint8Array): number;
  epoll_wait(epoll: number, events: number, count: number, timeoutMs: number): number;
  madvise(address: number, length: number, advice: number): number;
  mallopt(parameter: number, value: number): number;
  close(fd: number): number;
  /** The number of this thread in /proc/self/task. */
  gettid(): number;
  /** errno of the last call of this thread. */
  errno(): number;
  /** Address of the first byte. The memory must stay referenced as long as libc may use it. */
  readonly addressOf: (bytes: Uint8Array) => number;
}

/** A system call failed. `code` is the name of the error, such as `EADDRINUSE`. */
export class SystemError extends Error {
  readonly code: string;

  constructor(
    readonly syscall: string,
    readonly errno: number,
  ) {
    const code = getSystemErrorName(-errno);
    super(`${syscall}: ${code}`);
    this.code = code;
  }
}

/**
 * The layouts of `struct mmsghdr` and of socket addresses in this package are those of 64-bit little-endian Linux.
 */
const ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

let loaded: SystemCalls | undefined;

/**
 * @throws Error with the reason why datagrams cannot be received in batches: not Linux, another architecture, without
 *   the native part of koffi, or in a sandbox that refuses the calls
 */
export function loadSystemCalls(): SystemCalls {
  loaded ??= load();
  return loaded;
}

function load(): SystemCalls {
  const { platform, arch } = process;
  if (platform !== 'linux' || !ARCHITECTURES.includes(arch) || endianness() !== 'LE') {
    throw new Error(`not with ${platform} on ${arch}`);
  }
  // Loaded only here: where its native part is missing, loading it throws.
  const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi;
  // The libc of this process, whichever it is.
  const libc = koffi.load(null);
  const calls: SystemCalls = {
    socket: libc.func('int socket(int, int, int)'),
    bind: libc.func('int bind(int, const void *, uint32_t)'),
    listen: libc.func('int listen(int, int)'),
    connect: libc.func('int connect(int, const void *, uint32_t)'),
    getsockname: libc.func('int getsockname(int, _Inout_ void *, _Inout_ void *)'),
    setsockopt: libc.func('int setsockopt(int, int, int, const void *, uint32_t)'),
    getsockopt: libc.func('int getsockopt(int, int, int, _Inout_ void *, _Inout_ void *)'),
    // An address as a number costs less than a view.
    recvmmsg: libc.func('int recvmmsg(int, uintptr_t, uint32_t, int, uintptr_t)'),
    sendmmsg: libc.func('int sendmmsg(int, uintptr_t, uint32_t, int)'),
    inet_pton: libc.func('int inet_pton(int, const char *, _Out_ void *)'),
    epoll_create1: libc.func('int epoll_create1(int)'),
    epoll_ctl: libc.func('int epoll_ctl(int, int, int, const void *)'),
    epoll_wait: libc.func('int epoll_wait(int, uintptr_t, int, int)'),
    madvise: libc.func('int madvise(uintptr_t, size_t, int)'),
    mallopt: libc.func('int mallopt(int, int)'),
    close: libc.func('int close(int)'),
    gettid: libc.func('int gettid()'),
    errno: () => koffi.errno(),
    addressOf: (bytes) => Number(koffi.address(bytes)),
  };
  tryBatches(calls);
  return calls;
}

/** Calls both as if for a batch, on a socket that has received nothing, and that is not told where to send. */
function tryBatches(calls: SystemCalls): void {
  const fd = calls.socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw new SystemError('socket', calls.errno());
  try {
    const { address } = new MessageSlots(calls.addressOf, 1, 4);
    if (calls.recvmmsg(fd, address, 1, MSG_DONTWAIT, 0) < 0 && calls.errno() !== EAGAIN) {
      throw new SystemError('recvmmsg', calls.errno());
    }
    if (calls.sendmmsg(fd, address, 1, MSG_DONTWAIT) < 0 && calls.errno() !== EDESTADDRREQ) {
      throw new SystemError('sendmmsg', calls.errno());
    }
  } finally {
    calls.close(fd);
  }
}
