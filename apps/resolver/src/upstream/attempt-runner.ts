import {
  Ede,
  Flag,
  hasUsableRcode,
  headerErrorOf,
  isNotUnderstood,
  isReadable,
  MAX_UPSTREAM_QUERY_BYTES,
  NO_HEADER_ERROR,
  parseResponse,
  removeEdns,
  Response,
  Scrubber,
  setEmptyResponse,
  writeUpstreamQuery,
} from '@weir/dns-wire';
import type { UpstreamEndpoint } from '@weir/ops';
import type { SocketPoller, SystemCalls } from '@weir/udp-batch';
import type { SecureContext } from 'node:tls';
import type { BatchTurn } from '../clocks.js';
import { ERRORS_BY_RCODE, UpstreamCount } from '../metrics/forwarding-counts.js';
import {
  setFailure,
  type InFlight,
  MAX_ATTEMPTS,
  NO_ERROR,
  type QuerySocket,
} from './in-flight.js';
import { Prober, type StateListener } from './prober.js';
import { RandomIds } from './random-ids.js';
import { isAnswerTo, ReplyReader, type ReplySteps } from './reply-reader.js';
import { chooseUntried, chooseUpstream, hasLiveAttempt } from './upstream-choice.js';
import { OpenSockets } from './upstream-batches.js';
import { UpstreamHealth, Upstream } from './upstream.js';

export interface AttemptOptions {
  readonly upstreams: readonly UpstreamEndpoint[];
  readonly nowMs: () => number;
  /** Around a batch of answers. */
  readonly turn: BatchTurn;
  /** Number of UDP ports from which each upstream is asked. */
  readonly portsPerUpstream: number;
  /** Whether upstreams are asked with DNS cookies. */
  readonly hasCookies: boolean;
  /** Those of `upstreams` that are not asked over TLS, and whose AD bit is believed. Default: none. */
  readonly adTrusted?: ReadonlySet<UpstreamEndpoint>;
  /** To send and receive in batches over UDP. */
  readonly calls: SystemCalls;
  /**
   * It gets the UDP sockets. Its owner calls `Forwarder.receive` when it tells of one, and `Forwarder.flush` when
   * queries are to leave. Default: the event loop does both.
   */
  readonly poller?: SocketPoller | undefined;
  /** How long an attempt may last before the next one begins. */
  readonly attemptTimeoutMs?: number;
  /** Time limit for all attempts together once an upstream has answered with an error. */
  readonly errorTimeoutMs?: number;
  /** Maximum number of queries over TCP at once, to all upstreams together. */
  readonly tcpCapacity?: number;
  readonly stateListener?: StateListener;
  /** For upstreams that are asked over TLS. Default: the certificate authorities that Node.js trusts. */
  readonly secureContext?: SecureContext | undefined;
  readonly onTlsError?: (upstream: Upstream, error: Error) => void;
}

const DEFAULT_ATTEMPT_TIMEOUT_MS = 500;
/** Another upstream may have an answer instead of the error, but the client must not wait too long for it. */
const DEFAULT_ERROR_TIMEOUT_MS = 1_500;
/** Many times the share of one subscriber, so that a few with silent names do not take everything. */
const DEFAULT_TCP_CAPACITY = 4096;
const MAX_PLAIN_RCODE = 15;
const NO_LISTENER: StateListener = { onRecovered: () => undefined, onReport: () => undefined };

/**
 * Runs the attempts of questions at upstreams: up to three each, fastest upstream first. The next attempt begins when
 * the upstream is silent for a while, unreachable, or answers with an error. A truncated reply is repeated over TCP. An
 * error without a question is repeated over TCP, and there without EDNS. One with the question but no OPT record is
 * repeated without EDNS. `ReplyReader` says which reply is genuine.
 */
export class AttemptRunner implements ReplySteps {
  readonly upstreams: readonly Upstream[];
  readonly sockets: OpenSockets;
  private readonly ids = new RandomIds();
  private readonly response = new Response();
  private readonly scrubber = new Scrubber();
  /** Queries that are repeated over TCP now. */
  private overTcp = 0;
  private readonly tcpCapacity: number;
  private readonly prober: Prober;
  private readonly nowMs: () => number;
  private readonly attemptTimeoutMs: number;
  private readonly errorTimeoutMs: number;

  /**
   * @param counts of each upstream, see `ForwardingCounts`
   * @param complete called with the result of an entry, see `ForwardEvents.onCompleted`; it ends the entry before it
   * returns
   */
  constructor(
    options: AttemptOptions,
    counts: readonly Float64Array[],
    private readonly complete: (entry: InFlight, response: Response) => void,
  ) {
    this.nowMs = options.nowMs;
    this.sockets = new OpenSockets(options.poller ?? null);
    this.attemptTimeoutMs = options.attemptTimeoutMs ?? DEFAULT_ATTEMPT_TIMEOUT_MS;
    this.tcpCapacity = options.tcpCapacity ?? DEFAULT_TCP_CAPACITY;
    this.errorTimeoutMs = options.errorTimeoutMs ?? DEFAULT_ERROR_TIMEOUT_MS;
    const events = {
      onPacket: (socket: QuerySocket, packet: Uint8Array, length: number) => {
        replies.onPacket(socket, packet, length);
      },
      onUnreachable: this.onUnreachable.bind(this),
    };
    this.upstreams = options.upstreams.map((endpoint, index) => {
      const health = new UpstreamHealth(this.attemptTimeoutMs / 2);
      const { portsPerUpstream: portCount, hasCookies, calls, turn } = options;
      return new Upstream({
        index,
        endpoint,
        portCount,
        hasCookies,
        trustsAd: options.adTrusted?.has(endpoint) ?? false,
        calls,
        turn,
        openSockets: this.sockets,
        counts: counts[index],
        ids: this.ids,
        events,
        health,
        secureContext: options.secureContext,
        nowMs: this.nowMs,
        onTlsError: options.onTlsError ?? (() => undefined),
      });
    });
    const listener = options.stateListener ?? NO_LISTENER;
    this.prober = new Prober(this.upstreams, this.send.bind(this), listener);
    const replies = new ReplyReader({
      upstreams: this.upstreams,
      response: this.response,
      prober: this.prober,
      nowMs: this.nowMs,
      steps: this,
    });
  }

  /** Called regularly: opens and closes sockets, probes upstreams. */
  maintain(): void {
    const nowMs = this.nowMs();
    for (const upstream of this.upstreams) upstream.maintain(nowMs);
    this.prober.tick(nowMs);
  }

  /** Whether a probe waits for its answer, or an upstream has not answered the last one. */
  get isProbing(): boolean {
    for (const { health } of this.upstreams)
      if (health.hasOpenProbe || !health.isSound) return true;
    return false;
  }

  /** Whether an answer is expected over TCP or TLS. */
  get isWaitingForStreams(): boolean {
    if (this.overTcp > 0) return true;
    for (const upstream of this.upstreams) if (upstream.isWaitingForTls) return true;
    return false;
  }

  /** Whether a probe waits for its answer. */
  get hasOpenProbe(): boolean {
    for (const { health } of this.upstreams) if (health.hasOpenProbe) return true;
    return false;
  }

  /** Begins the first attempt of an entry, whose deadline is set. The result never comes before this returns. */
  start(entry: InFlight): void {
    const { packet, question } = entry;
    writeUpstreamQuery(packet, question.bytes, question.query, 0);
    // When no upstream can be asked, the next timeout check fails the entry.
    if (!this.startNextAttempt(entry)) entry.attemptDeadlineMs = this.nowMs();
  }

  /** The time of the last attempt of the entry is over. */
  onTimeout(entry: InFlight): void {
    const last = entry.attemptCount - 1;
    if (entry.isOpen(last)) this.upstreams[entry.upstreams[last]].counts[UpstreamCount.timeouts]++;
    if (!this.startNextAttempt(entry)) this.fail(entry);
  }

  /** Begins the next attempt, or waits on for an open one. @returns false when there is nothing to wait for */
  private startNextAttempt(entry: InFlight): boolean {
    const nowMs = this.nowMs();
    while (entry.attemptCount < MAX_ATTEMPTS && nowMs < entry.deadlineMs) {
      const upstream = this.choose(entry);
      if (upstream === null) break;
      const socket = upstream.sockets.choose(nowMs);
      const attempt = entry.beginAttempt(upstream.index, socket, nowMs);
      if (socket === null) {
        upstream.health.recordUnreachable();
        continue;
      }
      const isLast = entry.attemptCount === MAX_ATTEMPTS;
      entry.attemptDeadlineMs = isLast ? entry.deadlineMs : nowMs + this.attemptTimeoutMs;
      entry.withEdns[attempt] = upstream.hasEdns(nowMs) ? 1 : 0;
      this.send(entry, attempt, socket);
      return true;
    }
    entry.attemptDeadlineMs = entry.deadlineMs;
    return nowMs < entry.deadlineMs && hasLiveAttempt(this.upstreams, entry);
  }

  send(entry: InFlight, attempt: number, socket: QuerySocket): void {
    const { packet } = entry;
    entry.packetLength = this.writeQuery(packet, entry, attempt, entry.ids[attempt]);
    if (!entry.isProbe) this.upstreams[socket.upstream].recordQuery(this.nowMs());
    socket.send(packet, entry.packetLength);
  }

  /** @returns the length of the query for the attempt */
  private writeQuery(out: Uint8Array, entry: InFlight, attempt: number, id: number): number {
    const length = writeUpstreamQuery(out, entry.packet, entry.question.query, id);
    if (entry.withEdns[attempt] === 0) return removeEdns(out, length);
    return this.upstreams[entry.upstreams[attempt]].addOptions(out, length);
  }

  /**
   * After an error, an upstream is not asked twice, and one that is down is not asked: the error is better than a
   * timeout.
   */
  private choose(entry: InFlight): Upstream | null {
    if (entry.errorRcode === NO_ERROR) return chooseUpstream(this.upstreams, entry);
    return chooseUntried(this.upstreams, entry);
  }

  private fail(entry: InFlight): void {
    setFailure(this.response, entry);
    this.complete(entry, this.response);
  }

  repeatOverTcp(entry: InFlight, attempt: number): void {
    if (!this.askOverTcp(entry, attempt)) this.failAttempt(entry, attempt);
  }

  /** A forger knows this port. Its questions go over TCP, or else to the next upstream or port. */
  abandon(socket: QuerySocket): void {
    const nowMs = this.nowMs();
    for (const entry of socket.waitingEntries()) {
      for (let i = 0; i < entry.attemptCount; i++) {
        if (entry.sockets[i] !== socket) continue;
        if (!entry.isProbe && this.askOverTcp(entry, i)) continue;
        entry.endAttempt(i);
        if (!entry.isOpen(entry.attemptCount - 1)) entry.attemptDeadlineMs = nowMs;
      }
    }
    this.upstreams[socket.upstream].sockets.abandon(socket, nowMs);
  }

  /**
   * `this.response` answers the entry. An extended RCODE concerns EDNS between us and the upstream, so it is not an
   * answer for the client.
   */
  accept(entry: InFlight, attempt: number): void {
    const { response } = this;
    if (response.rcode > MAX_PLAIN_RCODE) {
      this.failAttempt(entry, attempt);
      return;
    }
    if (this.rejectsEdns(entry, attempt)) return this.askWithoutEdns(entry, attempt);
    const upstream = this.upstreams[entry.upstreams[attempt]];
    upstream.counts[UpstreamCount.answers]++;
    if (!upstream.trustsAd) response.flags &= ~Flag.ad;
    // A slow name says nothing about the upstream.
    const tookMs = this.nowMs() - entry.startedMs[attempt];
    upstream.recordLatency(Math.min(tookMs, this.attemptTimeoutMs));
    if (!hasUsableRcode(response)) return this.takeError(entry, attempt);
    const scrubbed = isReadable(response) ? this.scrubber.scrub(response) : null;
    if (scrubbed === null) this.failAttempt(entry, attempt);
    else this.complete(entry, scrubbed);
  }

  /**
   * Whether the error in `this.response` may come from EDNS, which the upstream does not know (RFC 6891 §7). It may
   * also be about this name alone, as of a forwarder, so other questions keep EDNS.
   */
  private rejectsEdns(entry: InFlight, attempt: number): boolean {
    const { rcode, hasEdns } = this.response;
    return isNotUnderstood(rcode) && !hasEdns && entry.withEdns[attempt] === 1;
  }

  /**
   * `this.response` is an error such as SERVFAIL or REFUSED. It is passed on only if no other upstream has an answer in
   * time.
   */
  private takeError(entry: InFlight, attempt: number): void {
    const { counts } = this.upstreams[entry.upstreams[attempt]];
    counts[UpstreamCount.errors]++;
    counts[ERRORS_BY_RCODE + this.response.rcode]++;
    if (entry.errorRcode === NO_ERROR) {
      entry.errorRcode = this.response.rcode;
      entry.errorEde = this.response.ede;
      entry.shortenDeadline(entry.startedMs[0] + this.errorTimeoutMs);
    }
    this.endAttempt(entry, attempt);
  }

  /** @returns false when too many queries go over TCP already, and for an upstream that is asked over TLS */
  private askOverTcp(entry: InFlight, attempt: number): boolean {
    const upstream = this.upstreams[entry.upstreams[attempt]];
    const nowMs = this.nowMs();
    entry.leaveSocket(attempt);
    const { tcp } = upstream;
    if (tcp === null || this.overTcp >= this.tcpCapacity) return false;
    const packet = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
    const query = packet.subarray(0, this.writeQuery(packet, entry, attempt, 0));
    const restMs = Math.max(entry.deadlineMs - nowMs, 1);
    const { use } = entry;
    this.overTcp++;
    tcp.ask(query, restMs, (message) => {
      this.overTcp--;
      if (entry.use === use) this.onTcpMessage(entry, attempt, message);
    });
    upstream.counts[UpstreamCount.overTcp]++;
    // Where TCP does not get through, the next upstream is asked after the usual timeout.
    if (entry.attemptCount < MAX_ATTEMPTS)
      entry.attemptDeadlineMs = Math.min(entry.deadlineMs, nowMs + this.attemptTimeoutMs);
    return true;
  }

  /** @param message null when none has come */
  private onTcpMessage(entry: InFlight, attempt: number, message: Uint8Array | null): void {
    const { response } = this;
    const upstream = this.upstreams[entry.upstreams[attempt]];
    const isResponse = message !== null && parseResponse(message, message.length, response);
    if (isResponse && !response.isTruncated && isAnswerTo(response, entry)) {
      // Nobody has forged it.
      if (entry.withEdns[attempt] === 1) upstream.cookies?.learn(response, this.nowMs());
      this.accept(entry, attempt);
      return;
    }
    const rcode = message === null ? NO_HEADER_ERROR : headerErrorOf(message, message.length);
    if (rcode === NO_HEADER_ERROR) this.failAttempt(entry, attempt);
    else this.acceptHeaderError(entry, attempt, rcode);
  }

  /** The upstream itself has answered by a header only. If it has not understood EDNS, it is asked again without. */
  acceptHeaderError(entry: InFlight, attempt: number, rcode: number): void {
    if (entry.withEdns[attempt] === 0 || !isNotUnderstood(rcode)) {
      const { bytes, query } = entry.question;
      setEmptyResponse(this.response, bytes, query, rcode, Ede.none);
      this.accept(entry, attempt);
      return;
    }
    this.upstreams[entry.upstreams[attempt]].leaveOutEdns(this.nowMs());
    this.askWithoutEdns(entry, attempt);
  }

  private askWithoutEdns(entry: InFlight, attempt: number): void {
    entry.withEdns[attempt] = 0;
    const socket = entry.sockets[attempt];
    if (socket === null) this.repeatOverTcp(entry, attempt);
    else this.send(entry, attempt, socket);
  }

  private failAttempt(entry: InFlight, attempt: number): void {
    this.upstreams[entry.upstreams[attempt]].counts[UpstreamCount.failures]++;
    this.endAttempt(entry, attempt);
  }

  /** The attempt has brought nothing. The next one begins, unless a later one is open already. */
  private endAttempt(entry: InFlight, attempt: number): void {
    entry.endAttempt(attempt);
    if (!entry.isOpen(entry.attemptCount - 1) && !this.startNextAttempt(entry)) this.fail(entry);
  }

  /** Thousands of questions may wait at the socket, so the next timeout check goes on with them, in pieces. */
  private onUnreachable(socket: QuerySocket): void {
    const nowMs = this.nowMs();
    const { counts, health, sockets } = this.upstreams[socket.upstream];
    health.recordUnreachable();
    sockets.wear(socket, nowMs);
    for (const entry of socket.waitingEntries()) {
      for (let i = 0; i < entry.attemptCount; i++) {
        if (entry.sockets[i] !== socket) continue;
        if (!entry.isProbe) counts[UpstreamCount.failures]++;
        entry.endAttempt(i);
      }
      if (!entry.isOpen(entry.attemptCount - 1)) entry.attemptDeadlineMs = nowMs;
    }
  }
}
