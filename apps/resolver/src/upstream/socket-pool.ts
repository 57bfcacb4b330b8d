import type { QuerySocket, QuerySockets } from './in-flight.js';
import type { RandomIds } from './random-ids.js';
import type { UpstreamSocket } from './upstream-socket.js';

/** After this many queries a socket is replaced by one on another port. */
const QUERIES_PER_SOCKET = 4096;
/** A socket is replaced after this time, and up to as much again at random, so that nobody can look for its port. */
const MIN_AGE_MS = 20_000;
/** How long a replaced socket waits for answers: longer than any query lives. */
const RETIRED_MS = 5_000;
/** Delay after a socket could not be opened, or has failed. */
const REOPEN_MS = 1_000;
const RANDOM_LIMIT = 65_536;

interface Place {
  socket: UpstreamSocket | null;
  /** When the socket is too old. */
  wornAtMs: number;
}

/**
 * The UDP sockets of one upstream, each on a random port. A query is sent from any of them, so a forger has to find its
 * port (RFC 5452 §9.2); and no port stays in use for long.
 */
export class SocketPool implements QuerySockets {
  private readonly places: readonly Place[];
  private readonly retired: { socket: UpstreamSocket; closeAtMs: number }[] = [];
  private chosen: UpstreamSocket | null = null;
  private reopenAtMs = 0;

  /** @param openSocket opens a socket on a random port; throws when there is no route */
  constructor(
    size: number,
    private readonly ids: RandomIds,
    private readonly openSocket: () => UpstreamSocket,
    private readonly onFailure: () => void,
  ) {
    this.places = Array.from({ length: size }, () => ({
      socket: null,
      wornAtMs: 0,
    }));
  }

  /** Opens all sockets. An unreachable upstream has none; `maintain` opens them later. */
  open(nowMs: number): void {
    for (const place of this.places) this.fill(place, nowMs);
  }

  /**
   * A random socket; null when there is none. Queries that leave together have the same. Nobody outside can tell which
   * do, so each port is as hard to guess as if it were chosen by itself.
   */
  choose(): UpstreamSocket | null {
    if (this.chosen?.isFilling !== true) this.chosen = this.chooseAny();
    return this.chosen;
  }

  private chooseAny(): UpstreamSocket | null {
    const { places } = this;
    const start = this.ids.next() % places.length;
    for (let i = start; i < places.length; i++)
      if (places[i].socket !== null) return places[i].socket;
    for (let i = 0; i < start; i++) if (places[i].socket !== null) return places[i].socket;
    return null;
  }

  /** Closes a socket at once, and opens one on another port. */
  abandon(socket: QuerySocket, nowMs: number): void {
    const retiredAt = this.retired.findIndex((one) => one.socket === socket);
    if (retiredAt >= 0) for (const one of this.retired.splice(retiredAt, 1)) one.socket.close();
    const place = this.places.find((one) => one.socket === socket);
    if (place === undefined) return;
    place.socket?.close();
    place.socket = null;
    this.fill(place, nowMs);
  }

  /** The socket is replaced a second later, unless it is worn before. */
  wear(socket: QuerySocket, nowMs: number): void {
    const place = this.places.find((one) => one.socket === socket);
    if (place !== undefined) place.wornAtMs = Math.min(place.wornAtMs, nowMs + REOPEN_MS);
  }

  /** Replaces worn sockets, closes replaced ones, opens missing ones. Called regularly. */
  maintain(nowMs: number): void {
    for (let i = this.retired.length - 1; i >= 0; i--) {
      const { socket, closeAtMs } = this.retired[i];
      if (socket.waitingCount > 0 && nowMs < closeAtMs) continue;
      socket.close();
      this.retired.splice(i, 1);
    }
    if (nowMs < this.reopenAtMs) return;
    for (const place of this.places) if (isWorn(place, nowMs)) this.fill(place, nowMs);
  }

  close(): void {
    for (const place of this.places) {
      place.socket?.close();
      place.socket = null;
    }
    for (const { socket } of this.retired.splice(0)) socket.close();
  }

  /** Puts a new socket into the place. */
  private fill(place: Place, nowMs: number): void {
    try {
      const socket = this.openSocket();
      if (place.socket !== null)
        this.retired.push({ socket: place.socket, closeAtMs: nowMs + RETIRED_MS });
      place.socket = socket;
      place.wornAtMs = nowMs + MIN_AGE_MS * (1 + this.ids.next() / RANDOM_LIMIT);
    } catch {
      // Unreachable now (for example no IPv6 here), or too many files are open. `maintain` tries again.
      // It counts once, however many sockets fail together.
      if (nowMs >= this.reopenAtMs) this.onFailure();
      this.reopenAtMs = nowMs + REOPEN_MS;
    }
  }
}

function isWorn({ socket, wornAtMs }: Place, nowMs: number): boolean {
  return socket === null || socket.sent >= QUERIES_PER_SOCKET || nowMs >= wornAtMs;
}
