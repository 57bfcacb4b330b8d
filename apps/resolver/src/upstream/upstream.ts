import type { Endpoint } from '@weir/ops';
import type { RandomIds } from './random-ids.js';
import type { UpstreamHealth } from './upstream-health.js';
import { UpstreamSocket, type UpstreamSocketEvents } from './upstream-socket.js';
import { UpstreamTcp } from './upstream-tcp.js';

/** Number of sockets, and so of ports, among which queries are spread at random (RFC 5452 §9.2). */
const SOCKETS = 4;
/** After this many queries a socket is replaced by one on another port. */
const QUERIES_PER_SOCKET = 4096;
/** How long a retired socket waits for answers: longer than any query lives. */
const RETIRED_MS = 5_000;
/** Delay before the next attempt to open a missing socket. */
const REOPEN_MS = 1_000;

/** For how long an upstream that does not understand EDNS is asked without it. */
const WITHOUT_EDNS_MS = 300_000;

/** Weight of a new measurement in the smoothed latency. */
const LATENCY_WEIGHT = 0.25;

/** Plain counters, read by the metrics. */
export interface UpstreamCounters {
  queries: number;
  answers: number;
  /** Answers with an error such as SERVFAIL or REFUSED: another upstream is asked, if there is one. */
  errors: number;
  timeouts: number;
  /** Attempts that failed at once: unreachable, a broken connection, an unusable answer. */
  failures: number;
  /** Queries repeated over TCP because the answer was truncated. */
  overTcp: number;
  /** Packets that match no open query: late, forged or malformed. */
  strays: number;
  /** Queries of our own, which are not among `queries`, and answers to them. */
  probes: number;
  probeAnswers: number;
}

/** One upstream resolver: its sockets, its latency and its health. Times are milliseconds on one clock, passed in. */
export class Upstream {
  readonly name: string;
  readonly counters: UpstreamCounters = {
    queries: 0,
    answers: 0,
    errors: 0,
    timeouts: 0,
    failures: 0,
    overTcp: 0,
    strays: 0,
    probes: 0,
    probeAnswers: 0,
  };
  private readonly sockets: UpstreamSocket[] = [];
  private readonly retired: { socket: UpstreamSocket; closeAtMs: number }[] = [];
  private opening = 0;
  private reopenAtMs = 0;
  private withoutEdnsUntilMs = 0;
  private isClosed = false;
  private smoothedMs = 0;
  readonly tcp: UpstreamTcp;

  constructor(
    readonly index: number,
    readonly endpoint: Endpoint,
    private readonly ids: RandomIds,
    private readonly events: UpstreamSocketEvents,
    readonly health: UpstreamHealth,
  ) {
    const { address, port } = endpoint;
    this.tcp = new UpstreamTcp(endpoint, ids);
    this.name = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  }

  /** Opens the missing sockets. An unreachable upstream has none; `maintain` opens them later. */
  async open(nowMs: number): Promise<void> {
    const missing = SOCKETS - this.sockets.length - this.opening;
    this.reopenAtMs = nowMs + REOPEN_MS;
    await Promise.all(Array.from({ length: missing }, () => this.openOne()));
  }

  /** A random socket of this upstream; null when there is none. */
  socket(): UpstreamSocket | null {
    if (this.sockets.length === 0) return null;
    return this.sockets[this.ids.next() % this.sockets.length];
  }

  /** Whether to ask with EDNS. */
  hasEdns(nowMs: number): boolean {
    return nowMs >= this.withoutEdnsUntilMs;
  }

  /** The upstream has not understood a query with EDNS. */
  leaveOutEdns(nowMs: number): void {
    this.withoutEdnsUntilMs = nowMs + WITHOUT_EDNS_MS;
  }

  /** Smoothed time to an answer; 0 before the first. */
  get latencyMs(): number {
    return this.smoothedMs;
  }

  /** A query of a client is being sent. */
  recordQuery(nowMs: number): void {
    this.counters.queries++;
    this.health.recordQuery(nowMs);
  }

  /** An answer has taken this long. */
  recordLatency(latencyMs: number): void {
    const isFirst = this.smoothedMs === 0;
    this.smoothedMs += (latencyMs - this.smoothedMs) * (isFirst ? 1 : LATENCY_WEIGHT);
  }

  /** Replaces worn sockets, closes retired ones, opens missing ones. Called regularly. */
  maintain(nowMs: number): void {
    for (let i = this.sockets.length - 1; i >= 0; i--) {
      if (this.sockets[i].sent < QUERIES_PER_SOCKET || this.sockets.length < SOCKETS) continue;
      const [socket] = this.sockets.splice(i, 1);
      this.retired.push({ socket, closeAtMs: nowMs + RETIRED_MS });
      void this.openOne();
    }
    for (let i = this.retired.length - 1; i >= 0; i--) {
      const { socket, closeAtMs } = this.retired[i];
      if (socket.waitingCount > 0 && nowMs < closeAtMs) continue;
      socket.close();
      this.retired.splice(i, 1);
    }
    if (this.sockets.length + this.opening < SOCKETS && nowMs >= this.reopenAtMs)
      void this.open(nowMs);
  }

  close(): void {
    this.isClosed = true;
    this.tcp.close();
    for (const socket of this.sockets.splice(0)) socket.close();
    for (const { socket } of this.retired.splice(0)) socket.close();
  }

  private async openOne(): Promise<void> {
    this.opening++;
    try {
      const socket = await UpstreamSocket.open(this.index, this.endpoint, this.ids, this.events);
      if (this.isClosed) socket.close();
      else this.sockets.push(socket);
    } catch {
      // Unreachable now (for example no IPv6 here). It is counted, and `maintain` tries again.
      this.counters.failures++;
    } finally {
      this.opening--;
    }
  }
}
