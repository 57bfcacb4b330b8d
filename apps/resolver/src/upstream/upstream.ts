import { addPadding } from '@weir/dns-wire';
import { showUpstream, type UpstreamEndpoint } from '@weir/ops/endpoint';
import type { SystemCalls } from '@weir/udp-batch';
import type { SecureContext } from 'node:tls';
import type { BatchTurn } from '../clocks.js';
import { UpstreamCount } from '../metrics/forwarding-counts.js';
import type { QuerySocketEvents, QuerySockets } from './in-flight.js';
import type { RandomIds } from './random-ids.js';
import { SocketPool } from './socket-pool.js';
import { UpstreamCookies } from './upstream-cookies.js';
import { type OpenSockets, UpstreamBatches } from './upstream-batches.js';
import { UpstreamSocket } from './upstream-socket.js';
import { UpstreamTcp } from './upstream-tcp.js';
import { UpstreamTls } from './upstream-tls.js';

/** After this many failed probes in a row, an upstream is down. */
const FAILURES_UNTIL_DOWN = 3;
/** Time between two probes while the upstream is down. */
const DOWN_MS = 2_000;
/** An upstream that has not answered anything for this long is probed. */
const IDLE_MS = 5_000;

/**
 * Whether an upstream is up. Only probes decide, which are queries of our own. Subscribers choose the names of all
 * other queries, so a query without an answer may be the fault of its name: it is no more than a reason to probe. Any
 * answer proves that the upstream is up. Times are milliseconds on one clock, passed in by the caller.
 */
export class UpstreamHealth {
  /** Failed probes since the last answer. */
  private failures = 0;
  /** Whether the last probe waits for its answer. */
  hasOpenProbe = false;
  /** No probe is sent before this time. */
  private nextProbeMs = 0;
  private answeredMs = -Infinity;
  /** Time of the first query since the last answer. */
  private silentSinceMs = Infinity;

  /**
   * @param silenceMs a probe follows when queries are without any answer for this long; also the time that an answer to
   * a probe may take
   */
  constructor(private readonly silenceMs: number) {}

  /** Whether it has not answered the last probes, or could not be reached three times in a row. */
  get isDown(): boolean {
    return this.failures >= FAILURES_UNTIL_DOWN;
  }

  /** Whether it has answered since the last failed probe. */
  get isSound(): boolean {
    return this.failures === 0;
  }

  /** Whether it has answered anything since that time. */
  hasAnsweredSince(timeMs: number): boolean {
    return this.answeredMs > timeMs;
  }

  /** A query of a client is being sent. */
  recordQuery(nowMs: number): void {
    if (this.silentSinceMs === Infinity) this.silentSinceMs = nowMs;
  }

  /** The upstream has answered a query or a probe, whatever the answer says. */
  recordAnswer(nowMs: number): void {
    this.failures = 0;
    this.hasOpenProbe = false;
    this.answeredMs = nowMs;
    this.silentSinceMs = Infinity;
  }

  /** The network says that the upstream cannot be reached: it counts as a failed probe. */
  recordUnreachable(): void {
    this.failures++;
    this.hasOpenProbe = false;
  }

  /** Called regularly. A probe without an answer counts as failed. @returns whether to send a probe now */
  isProbeDue(nowMs: number): boolean {
    if (nowMs < this.nextProbeMs) return false;
    if (this.hasOpenProbe) this.failures++;
    this.hasOpenProbe =
      !this.isSound ||
      nowMs - this.silentSinceMs >= this.silenceMs ||
      nowMs - this.answeredMs >= IDLE_MS;
    if (this.hasOpenProbe) this.nextProbeMs = nowMs + (this.isDown ? DOWN_MS : this.silenceMs);
    return this.hasOpenProbe;
  }
}

/** For how long an upstream that does not understand EDNS is asked without it. */
const WITHOUT_EDNS_MS = 300_000;
/** Minimum time between two reports that TLS has failed. */
const REPORT_MS = 60_000;

/** Weight of a new measurement in the smoothed latency. */
const LATENCY_WEIGHT = 0.25;

export interface UpstreamOptions {
  readonly index: number;
  readonly endpoint: UpstreamEndpoint;
  readonly portCount: number;
  readonly hasCookies: boolean;
  /** Whether its AD bit is believed although it is not asked over TLS. */
  readonly trustsAd: boolean;
  /** To send and receive in batches. */
  readonly calls: SystemCalls;
  /** Of all upstreams. */
  readonly openSockets: OpenSockets;
  /** Around a batch of answers. */
  readonly turn: BatchTurn;
  /** By `UpstreamCount`, then `ERRORS_BY_RCODE`. */
  readonly counts: Float64Array;
  readonly ids: RandomIds;
  readonly events: QuerySocketEvents;
  readonly health: UpstreamHealth;
  /** The authorities whose certificates it may have over TLS. Undefined: those that Node.js trusts. */
  readonly secureContext: SecureContext | undefined;
  readonly nowMs: () => number;
  /** TLS with the upstream has failed. Not called again soon. */
  readonly onTlsError: (upstream: Upstream, error: Error) => void;
}

/** One upstream resolver: its sockets, its latency and its health. Times are milliseconds on one clock, passed in. */
export class Upstream {
  readonly name: string;
  /** By `UpstreamCount`, then `ERRORS_BY_RCODE`. */
  readonly counts: Float64Array;
  private withoutEdnsUntilMs = 0;
  private quietUntilMs = -Infinity;
  readonly index: number;
  readonly health: UpstreamHealth;
  readonly sockets: QuerySockets;
  /** Null when it is asked over TLS. */
  readonly batches: UpstreamBatches | null;
  /** Null when it is asked over TLS: then it is never asked in clear text. */
  readonly tcp: UpstreamTcp | null;
  /** Whether its AD bit means that the answer was validated (RFC 4035 §3.2.3). */
  readonly trustsAd: boolean;
  private readonly tls: UpstreamTls | null;
  /** Null when it is asked without cookies. */
  readonly cookies: UpstreamCookies | null;

  constructor(options: UpstreamOptions) {
    const { index, endpoint, ids, health } = options;
    this.index = index;
    this.health = health;
    this.counts = options.counts;
    this.name = showUpstream(endpoint);
    this.tls = this.openTls(options);
    this.cookies = options.hasCookies && this.tls === null ? new UpstreamCookies() : null;
    this.trustsAd = options.trustsAd || this.tls !== null;
    if (this.tls === null) {
      this.batches = new UpstreamBatches(options);
      this.sockets = this.openPool(options, this.batches);
      this.tcp = new UpstreamTcp(endpoint, ids);
    } else {
      this.batches = null;
      this.sockets = this.tls;
      this.tcp = null;
    }
  }

  private openTls(options: UpstreamOptions): UpstreamTls | null {
    const { index: upstream, endpoint, ids, events, secureContext, nowMs } = options;
    const { tls: peer } = endpoint;
    if (peer === undefined) return null;
    const onFault = (error: Error): void => {
      this.counts[UpstreamCount.tlsErrors]++;
      if (nowMs() < this.quietUntilMs) return;
      this.quietUntilMs = nowMs() + REPORT_MS;
      options.onTlsError(this, error);
    };
    return new UpstreamTls({
      upstream,
      endpoint,
      peer,
      secureContext,
      ids,
      events,
      nowMs,
      onFault,
    });
  }

  private openPool(options: UpstreamOptions, batches: UpstreamBatches): SocketPool {
    const { index: upstream, portCount, ids, events } = options;
    const isPolled = options.openSockets.poller !== null;
    const openSocket = (): UpstreamSocket => {
      const socket = new UpstreamSocket({ upstream, ids, events, batches, isPolled });
      this.cookies?.useFrom(socket.localAddress);
      return socket;
    };
    const onFailure = (): void => {
      this.counts[UpstreamCount.failures]++;
    };
    return new SocketPool(portCount, ids, openSocket, onFailure);
  }

  get isOverTls(): boolean {
    return this.tls !== null;
  }

  get isWaitingForTls(): boolean {
    return this.tls !== null && this.tls.waitingCount > 0;
  }

  /** Adds what queries to this upstream have in OPT: cookies, or padding over TLS. @returns the new length */
  addOptions(query: Uint8Array, length: number): number {
    if (this.tls !== null) return addPadding(query, length);
    return this.cookies === null ? length : this.cookies.addTo(query, length);
  }

  /** Called regularly. */
  maintain(nowMs: number): void {
    this.sockets.maintain(nowMs);
    this.cookies?.maintain(nowMs);
    this.counts[UpstreamCount.connections] = this.tcp?.connections ?? this.tls?.connections ?? 0;
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
    return this.counts[UpstreamCount.latencyMs];
  }

  /** A query of a client is being sent. */
  recordQuery(nowMs: number): void {
    this.counts[UpstreamCount.queries]++;
    this.health.recordQuery(nowMs);
  }

  /** An answer has taken this long. */
  recordLatency(latencyMs: number): void {
    const weight = this.latencyMs === 0 ? 1 : LATENCY_WEIGHT;
    this.counts[UpstreamCount.latencyMs] += (latencyMs - this.latencyMs) * weight;
  }

  close(): void {
    this.tcp?.close();
    this.sockets.close();
  }
}
