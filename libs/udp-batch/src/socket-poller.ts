import { POLLIN } from './linux.js';
import type { SystemCalls } from './system-calls.js';

/** `struct pollfd { int fd; short events; short revents }` */
const POLLFD_BYTES = 8;
const EVENTS = 2;
const REVENTS = 3;

/** Waits for datagrams on several sockets. Allocates nothing. */
export class SocketPoller {
  private readonly shorts: Int16Array;
  private readonly address: number;

  constructor(
    private readonly calls: SystemCalls,
    private readonly fds: readonly number[],
  ) {
    const bytes = new Uint8Array(fds.length * POLLFD_BYTES);
    const words = new Int32Array(bytes.buffer);
    this.shorts = new Int16Array(bytes.buffer);
    this.address = calls.addressOf(bytes);
    for (const [i, fd] of fds.entries()) {
      words[(i * POLLFD_BYTES) >> 2] = fd;
      this.shorts[((i * POLLFD_BYTES) >> 1) + EVENTS] = POLLIN;
    }
  }

  /** Waits until `isReady` of any socket, or for that long. */
  wait(timeoutMs: number): void {
    for (let i = 0; i < this.fds.length; i++) {
      this.shorts[((i * POLLFD_BYTES) >> 1) + REVENTS] = 0;
    }
    this.calls.poll(this.address, this.fds.length, timeoutMs);
  }

  /** Whether the socket with that index had datagrams, or an error, at the end of the last wait. */
  isReady(index: number): boolean {
    return this.shorts[((index * POLLFD_BYTES) >> 1) + REVENTS] !== 0;
  }
}
