import type { QuerySocket } from './in-flight.js';

/** What a socket reports. */
export interface QuerySocketEvents {
  /** A packet from the upstream. `socket.find` returns the query with its id. */
  onPacket(socket: QuerySocket, packet: Uint8Array): void;
  /** The upstream cannot be reached, or sending failed. The socket stays in use. */
  onUnreachable(socket: QuerySocket): void;
}

/** The ways to one upstream. Times are milliseconds on one clock. */
export interface QuerySockets {
  /** Opens what is kept open. An unreachable upstream is no error. */
  open(nowMs: number): Promise<void>;
  /** The socket for the next query; null when there is none. */
  choose(nowMs: number): QuerySocket | null;
  /** Somebody guesses the ids of this socket. */
  abandon(socket: QuerySocket, nowMs: number): void;
  /** Called regularly. */
  maintain(nowMs: number): void;
  close(): void;
}
