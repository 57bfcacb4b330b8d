import type { IdSpace, InFlight } from './in-flight.js';

/** What carries queries to one upstream and knows them by their ids: a UDP socket, or a connection. */
export interface QuerySocket extends IdSpace {
  /** Index of the upstream. */
  readonly upstream: number;
  /** Packets with an id that no query has had. */
  wrongIds: number;
  /** The open query with that id. */
  find(id: number): InFlight | undefined;
  /** Whether an answer with that id may be late, so that nobody has guessed it. */
  hasUsed(id: number): boolean;
  /** A snapshot of all entries that wait here. */
  waitingEntries(): Set<InFlight>;
  /** Sends a query under the reserved id that it has. */
  send(packet: Uint8Array, length: number): void;
}

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
