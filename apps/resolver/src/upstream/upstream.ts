import type { Endpoint } from '@weir/ops';
import type { RandomIds } from './random-ids.js';
import { SocketPool } from './socket-pool.js';
import { UpstreamSocket, type UpstreamSocketEvents } from './upstream-socket.js';
import { UpstreamTcp } from './upstream-tcp.js';

/** After this many failures in a row an upstream is down: others are asked first, for `DOWN_MS`. */
const FAILURES_UNTIL_DOWN = 3;
const DOWN_MS = 5_000;

/** For how long an upstream that does not understand EDNS is asked without it. */
const WITHOUT_EDNS_MS = 300_000;

/** Weight of a new measurement in the smoothed latency. */
const LATENCY_WEIGHT = 0.25;
/** A latency is valid for this long; then it is measured again. */
const LATENCY_VALID_MS = 10_000;

/** Plain counters, read by the metrics. */
export interface UpstreamCounters {
  queries: number;
  answers: number;
  /** Answers with an error such as SERVFAIL or REFUSED: another upstream is asked, if there is one. */
  errors: number;
  timeouts: number;
  /** Attempts that failed at once: unreachable, a broken connection, an unusable answer. */
  failures: number;
  /** Queries repeated over TCP, because the answer was truncated or somebody may forge it. */
  overTcp: number;
  /** Answers to a query that is over. */
  late: number;
  /** Packets that answer no query that was sent: forged or malformed. */
  strays: number;
  /** Ports that were closed because many packets with wrong ids came to them. */
  spoofs: number;
}

/**
 * One upstream resolver: its sockets, its latency, and whether it is down. Times are milliseconds on one clock, passed
 * in by the caller.
 */
export class Upstream {
  readonly name: string;
  readonly counters: UpstreamCounters = {
    queries: 0,
    answers: 0,
    errors: 0,
    timeouts: 0,
    failures: 0,
    overTcp: 0,
    late: 0,
    strays: 0,
    spoofs: 0,
  };
  private failuresInRow = 0;
  private downUntilMs = 0;
  private withoutEdnsUntilMs = 0;
  private smoothedMs = 0;
  private remeasureAtMs = 0;
  readonly sockets: SocketPool;
  readonly tcp: UpstreamTcp;

  constructor(
    readonly index: number,
    readonly endpoint: Endpoint,
    portCount: number,
    ids: RandomIds,
    events: UpstreamSocketEvents,
    private readonly onStateChange: (upstream: Upstream, answers: boolean) => void,
  ) {
    const { address, port } = endpoint;
    this.sockets = new SocketPool(
      portCount,
      ids,
      () => UpstreamSocket.open(index, endpoint, ids, events),
      () => this.counters.failures++,
    );
    this.tcp = new UpstreamTcp(endpoint, ids);
    this.name = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  }

  isDown(nowMs: number): boolean {
    return nowMs < this.downUntilMs;
  }

  /** Whether to ask with EDNS. */
  hasEdns(nowMs: number): boolean {
    return nowMs >= this.withoutEdnsUntilMs;
  }

  /** The upstream has not understood a query with EDNS. */
  leaveOutEdns(nowMs: number): void {
    this.withoutEdnsUntilMs = nowMs + WITHOUT_EDNS_MS;
  }

  /** Smoothed time to an answer or a timeout, however old it is; 0 before the first measurement. */
  get smoothedLatencyMs(): number {
    return this.smoothedMs;
  }

  /** The smoothed latency; 0 when it is unknown or out of date. */
  latencyMs(nowMs: number): number {
    return nowMs < this.remeasureAtMs ? this.smoothedMs : 0;
  }

  /**
   * A query is being sent. When the latency is out of date, this query measures it; until then the old value holds.
   */
  recordQuery(nowMs: number): void {
    this.counters.queries++;
    if (nowMs >= this.remeasureAtMs && this.smoothedMs > 0)
      this.remeasureAtMs = nowMs + LATENCY_VALID_MS;
  }

  /** An attempt took this long, with an answer or without. */
  recordLatency(latencyMs: number, nowMs: number): void {
    const isFirst = this.smoothedMs === 0;
    this.smoothedMs += (latencyMs - this.smoothedMs) * (isFirst ? 1 : LATENCY_WEIGHT);
    this.remeasureAtMs = nowMs + LATENCY_VALID_MS;
  }

  recordSuccess(): void {
    this.counters.answers++;
    const wasDown = this.failuresInRow >= FAILURES_UNTIL_DOWN;
    this.failuresInRow = 0;
    this.downUntilMs = 0;
    if (wasDown) this.onStateChange(this, true);
  }

  recordFailure(nowMs: number): void {
    this.failuresInRow++;
    if (this.failuresInRow >= FAILURES_UNTIL_DOWN) this.downUntilMs = nowMs + DOWN_MS;
    if (this.failuresInRow === FAILURES_UNTIL_DOWN) this.onStateChange(this, false);
  }

  close(): void {
    this.tcp.close();
    this.sockets.close();
  }
}
