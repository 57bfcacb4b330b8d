import { arch } from 'node:process';
import * as linux from './linux.js';
import { SystemError, type SystemCalls } from './system-calls.js';

/** Most sockets of one wait. Others are told by the next one. */
const EVENTS = 64;
/** `struct epoll_event { u32 events; u64 data }`, which has no gap on x64 only. */
const [EVENT_WORDS, DATA_WORD] = arch === 'x64' ? [3, 1] : [4, 2];

/**
 * Waits for datagrams on any number of sockets (epoll(7)). The time of a wait does not grow with their number. A wait
 * allocates nothing.
 */
export class SocketPoller {
  private readonly fd: number;
  private readonly words: Int32Array;
  private readonly address: number;

  /** @throws SystemError such as EMFILE */
  constructor(private readonly calls: SystemCalls) {
    const bytes = new Uint8Array(EVENTS * EVENT_WORDS * Int32Array.BYTES_PER_ELEMENT);
    this.words = new Int32Array(bytes.buffer);
    this.address = calls.addressOf(bytes);
    this.fd = calls.epoll_create1(linux.EPOLL_CLOEXEC);
    if (this.fd < 0) throw new SystemError('epoll_create1', calls.errno());
  }

  /** @throws SystemError such as ENOSPC */
  add(fd: number): void {
    this.control(linux.EPOLL_CTL_ADD, fd);
  }

  /** To be called before the socket is closed. */
  remove(fd: number): void {
    this.control(linux.EPOLL_CTL_DEL, fd);
  }

  /**
   * Waits until a socket has datagrams or an error, or for that long.
   * @param timeoutMs whole milliseconds
   * @returns how many do; `fdAt` tells which. 0 also when a signal came
   * @throws SystemError such as EBADF
   */
  wait(timeoutMs: number): number {
    const ready = this.calls.epoll_wait(this.fd, this.address, EVENTS, timeoutMs);
    if (ready >= 0) return ready;
    const errno = this.calls.errno();
    if (errno === linux.EINTR) return 0;
    throw new SystemError('epoll_wait', errno);
  }

  /** The descriptor of a socket that the last wait has found. */
  fdAt(index: number): number {
    return this.words[index * EVENT_WORDS + DATA_WORD];
  }

  close(): void {
    this.calls.close(this.fd);
  }

  private control(operation: number, fd: number): void {
    const event = new Int32Array(EVENT_WORDS);
    event[0] = linux.EPOLLIN;
    event[DATA_WORD] = fd;
    const result = this.calls.epoll_ctl(this.fd, operation, fd, new Uint8Array(event.buffer));
    if (result < 0) throw new SystemError('epoll_ctl', this.calls.errno());
  }
}
