import {
  answersQuestion,
  Ede,
  isAboutName,
  parseResponse,
  Rcode,
  Response,
  setEmptyResponse,
  writeUpstreamQuery,
} from '@weir/dns-wire';
import type { Endpoint } from '@weir/ops';
import { type InFlight, MAX_TRIES, NO_REFUSAL } from './in-flight.js';
import { RandomIds } from './random-ids.js';
import { TcpQueries } from './tcp-queries.js';
import { Upstream } from './upstream.js';
import { chooseUntried, chooseUpstream, hasHope } from './upstream-choice.js';
import type { UpstreamSocket } from './upstream-socket.js';

export interface TriesOptions {
  readonly upstreams: readonly Endpoint[];
  readonly nowMs: () => number;
  /** How long one try may last before the next begins. */
  readonly tryMs?: number;
  /** How long all tries together may last once an upstream has sent an error. */
  readonly refusedPatienceMs?: number;
  /** Told when an upstream has stopped answering and when it answers again. */
  readonly onState?: (upstream: Upstream, answers: boolean) => void;
}

const DEFAULT_TRY_MS = 500;
/** Others may know better than who sends an error, but not at the price of the client's patience. */
const DEFAULT_REFUSED_PATIENCE_MS = 1_500;
const MAX_PLAIN_RCODE = 15;

/**
 * The tries of questions at upstreams: up to three each, at those that answer first. The next begins when one was silent for a while, is
 * out of reach, or has an error instead of an answer. A reply is believed only if it comes from the address and port that were asked, to the
 * port and with the id that were drawn at random, and answers the question (RFC 5452 §9.1). A truncated one is asked for again over TCP.
 */
export class Tries {
  readonly upstreams: readonly Upstream[];
  private readonly ids = new RandomIds();
  private readonly response = new Response();
  private readonly overTcp = new TcpQueries(this.response);
  private readonly nowMs: () => number;
  private readonly tryMs: number;
  private readonly refusedPatienceMs: number;

  /** @param settle told the outcome of an entry, as `ForwardOutcome.onSettled` describes it; ends the entry before it returns */
  constructor(
    options: TriesOptions,
    private readonly settle: (entry: InFlight, response: Response) => void,
  ) {
    this.nowMs = options.nowMs;
    this.tryMs = options.tryMs ?? DEFAULT_TRY_MS;
    this.refusedPatienceMs = options.refusedPatienceMs ?? DEFAULT_REFUSED_PATIENCE_MS;
    const events = {
      onPacket: this.onPacket.bind(this),
      onUnreachable: this.onUnreachable.bind(this),
    };
    const onState = options.onState ?? (() => undefined);
    this.upstreams = options.upstreams.map(
      (endpoint, index) => new Upstream(index, endpoint, this.ids, events, onState),
    );
  }

  /** Begins the first try of an entry with its deadline. Nobody is told of an outcome before this returns. */
  begin(entry: InFlight): void {
    // Who cannot even be asked fails at the next look.
    if (!this.tryNext(entry)) entry.tryDeadlineMs = this.nowMs();
  }

  /** Gives the entry's last try up when its time is over. Called regularly. */
  look(entry: InFlight, nowMs: number): void {
    if (nowMs < entry.tryDeadlineMs) return;
    if (entry.isOpen(entry.tries - 1)) this.countTimeout(entry, nowMs);
    if (!this.tryNext(entry)) this.giveUp(entry);
  }

  /** Begins the next try, or goes on waiting for one that may still succeed. @returns false when there is nothing to wait for */
  private tryNext(entry: InFlight): boolean {
    const nowMs = this.nowMs();
    while (entry.tries < MAX_TRIES && nowMs < entry.deadlineMs) {
      const upstream = this.choose(entry, nowMs);
      if (upstream === null) break;
      const socket = upstream.socket();
      const attempt = entry.beginTry(upstream.index, socket, nowMs);
      if (socket === null) {
        upstream.failed(nowMs);
        continue;
      }
      const isLast = entry.tries === MAX_TRIES;
      entry.tryDeadlineMs = isLast ? entry.deadlineMs : nowMs + this.tryMs;
      const { bytes, query } = entry.exchange;
      entry.packetLength = writeUpstreamQuery(entry.packet, bytes, query, entry.ids[attempt]);
      upstream.asked(nowMs);
      socket.send(entry.packet, entry.packetLength);
      return true;
    }
    entry.tryDeadlineMs = entry.deadlineMs;
    return nowMs < entry.deadlineMs && hasHope(this.upstreams, entry, nowMs);
  }

  /** Who has sent an error is not asked again, nor who does not answer: the error is better than to wait for them. */
  private choose(entry: InFlight, nowMs: number): Upstream | null {
    if (entry.refusalRcode === NO_REFUSAL) return chooseUpstream(this.upstreams, entry, nowMs);
    return chooseUntried(this.upstreams, entry, nowMs);
  }

  private giveUp(entry: InFlight): void {
    setFailure(this.response, entry);
    this.settle(entry, this.response);
  }

  private onPacket(socket: UpstreamSocket, packet: Uint8Array): void {
    const { response } = this;
    const isSound = parseResponse(packet, packet.length, response);
    const entry = isSound ? socket.find(response.id) : undefined;
    if (entry === undefined || !isAnswerTo(response, entry)) {
      this.upstreams[socket.upstream].counters.strays++;
      return;
    }
    const attempt = entry.tryOf(socket, response.id);
    if (response.isTruncated) this.askOverTcp(entry, attempt);
    else this.take(entry, attempt);
  }

  /** `this.response` answers the entry. An extended RCODE is about EDNS between us and the upstream, so no answer for the client. */
  private take(entry: InFlight, attempt: number): void {
    const { response } = this;
    if (response.rcode > MAX_PLAIN_RCODE) {
      this.failTry(entry, attempt);
      return;
    }
    const upstream = this.upstreams[entry.upstreams[attempt]];
    const nowMs = this.nowMs();
    upstream.took(nowMs - entry.startedMs[attempt], nowMs);
    upstream.succeeded();
    if (isAboutName(response)) this.settle(entry, response);
    else this.takeRefusal(entry, attempt);
  }

  /** `this.response` is an error such as SERVFAIL or REFUSED: it is passed on only if nobody else knows better in time. */
  private takeRefusal(entry: InFlight, attempt: number): void {
    this.upstreams[entry.upstreams[attempt]].counters.refusals++;
    if (entry.refusalRcode === NO_REFUSAL) {
      entry.refusalRcode = this.response.rcode;
      entry.refusalEde = this.response.ede;
      entry.hurry(entry.startedMs[0] + this.refusedPatienceMs);
    }
    this.endTry(entry, attempt);
  }

  private askOverTcp(entry: InFlight, attempt: number): void {
    const upstream = this.upstreams[entry.upstreams[attempt]];
    const nowMs = this.nowMs();
    entry.leaveSocket(attempt);
    const restMs = Math.max(entry.deadlineMs - nowMs, 1);
    const isAsked = this.overTcp.ask(entry, upstream.tcp, restMs, (isAnswer) => {
      if (isAnswer) this.take(entry, attempt);
      else this.failTry(entry, attempt);
    });
    if (!isAsked) {
      this.failTry(entry, attempt);
      return;
    }
    upstream.counters.overTcp++;
    // Where TCP does not get through, the next upstream is asked as after silence.
    if (entry.tries < MAX_TRIES)
      entry.tryDeadlineMs = Math.min(entry.deadlineMs, nowMs + this.tryMs);
  }

  private failTry(entry: InFlight, attempt: number): void {
    const upstream = this.upstreams[entry.upstreams[attempt]];
    upstream.counters.failures++;
    upstream.failed(this.nowMs());
    this.endTry(entry, attempt);
  }

  /** The try has brought nothing. The next begins unless a later one goes on already. */
  private endTry(entry: InFlight, attempt: number): void {
    entry.endTry(attempt);
    if (!entry.isOpen(entry.tries - 1) && !this.tryNext(entry)) this.giveUp(entry);
  }

  private onUnreachable(socket: UpstreamSocket): void {
    for (const entry of socket.waitingEntries()) {
      // A try that begins in this loop has not failed, even if it uses the same socket.
      const { tries } = entry;
      for (let i = 0; i < tries; i++) {
        if (entry.sockets[i] === socket) this.failTry(entry, i);
      }
    }
  }

  /** The last try of the entry was given up for slow; an answer still counts. */
  private countTimeout(entry: InFlight, nowMs: number): void {
    const last = entry.tries - 1;
    const upstream = this.upstreams[entry.upstreams[last]];
    upstream.counters.timeouts++;
    // The last try of all lasts longer than others, which says nothing about the upstream.
    upstream.took(Math.min(nowMs - entry.startedMs[last], this.tryMs), nowMs);
    upstream.failed(nowMs);
  }
}

/** The error that an upstream has sent, or this side's own. */
function setFailure(response: Response, entry: InFlight): void {
  const { bytes, query } = entry.exchange;
  const isRefused = entry.refusalRcode !== NO_REFUSAL;
  const rcode = isRefused ? entry.refusalRcode : Rcode.servFail;
  const silence = entry.hasOpenTry ? Ede.noReachableAuthority : Ede.networkError;
  setEmptyResponse(response, bytes, query, rcode, isRefused ? entry.refusalEde : silence);
}

function isAnswerTo(response: Response, { exchange }: InFlight): boolean {
  return answersQuestion(response, exchange.bytes, exchange.query);
}
