import type { AddressInfo } from 'node:net';

/** UDP on one host: sockets of this thread, or those of lanes. */
export interface UdpHost {
  /** @throws the bind error (`EADDRINUSE` …). */
  start(port: number): Promise<AddressInfo>;
  /** Accepts no more queries; answers still go out. */
  drain(): void;
  /** Closes when the last answer is out. */
  stop(): Promise<void>;
  /** Closes at once. */
  abort(): void;
  /** Size of the receive buffer of each socket, by address. */
  readonly receiveBuffers: Readonly<Record<string, number>>;
  /** See `inodeOf`. */
  readonly inodes: readonly string[];
  /** Kernel drops of sockets that are closed. */
  readonly pastDrops: number;
}
