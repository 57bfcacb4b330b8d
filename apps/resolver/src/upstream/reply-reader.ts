import {
  answersQuestion,
  headerErrorOf,
  NO_HEADER_ERROR,
  parseResponse,
  parseTruncated,
  Rcode,
  readUint16,
  type Response,
} from '@weir/dns-wire';
import { UpstreamCount } from '../metrics/forwarding-counts.js';
import type { InFlight, QuerySocket } from './in-flight.js';
import type { Prober } from './prober.js';
import type { Upstream } from './upstream.js';

/** How an attempt goes on after a reply. */
export interface ReplySteps {
  /** `response` answers the attempt. */
  accept(entry: InFlight, attempt: number): void;
  /** The upstream has answered by a header with that RCODE, and nobody has forged it. */
  acceptHeaderError(entry: InFlight, attempt: number, rcode: number): void;
  send(entry: InFlight, attempt: number, socket: QuerySocket): void;
  repeatOverTcp(entry: InFlight, attempt: number): void;
  /** A forger knows the port of this socket. */
  abandon(socket: QuerySocket): void;
}

export interface ReplyReaderOptions {
  readonly upstreams: readonly Upstream[];
  /** Every reply is read into it. */
  readonly response: Response;
  readonly prober: Prober;
  readonly nowMs: () => number;
  readonly steps: ReplySteps;
}

const ID_BYTES = 2;
/** After this many packets with wrong ids, a port is closed. The right id takes 32,768 guesses on average. */
const MAX_WRONG_IDS = 8;

/**
 * Reads what comes over UDP: finds the attempt that it answers, and tells how that goes on. Only a reply to the random
 * port, with the random id of the query and with the same question answers it (RFC 5452 §9.1).
 */
export class ReplyReader {
  constructor(private readonly options: ReplyReaderOptions) {}

  onPacket(socket: QuerySocket, packet: Uint8Array, length: number): void {
    const { response, steps, nowMs } = this.options;
    // Behind a shorter packet are bytes of an earlier one.
    const id = length < ID_BYTES ? 0 : readUint16(packet, 0);
    const headerError = headerErrorOf(packet, length);
    if (headerError !== NO_HEADER_ERROR) {
      this.onHeaderError(socket, id, headerError);
      return;
    }
    const entry = socket.find(id);
    const isValid =
      parseResponse(packet, length, response) || parseTruncated(packet, length, response);
    if (entry === undefined || !isValid || !isAnswerTo(response, entry)) {
      this.onStray(socket, id);
      return;
    }
    const attempt = entry.attemptOf(socket, response.id);
    const upstream = this.upstreamOf(socket);
    const cookies = entry.withEdns[attempt] === 1 ? upstream.cookies : null;
    const isSuspect = cookies?.isSuspect(response, nowMs()) ?? false;
    if (this.isDone(entry, attempt)) return;
    if (isSuspect) upstream.counts[UpstreamCount.suspects]++;
    const needsTcp = isSuspect || response.isTruncated;
    if (!needsTcp && response.rcode === Rcode.badCookie) this.onBadCookie(entry, attempt, socket);
    else if (!needsTcp) steps.accept(entry, attempt);
    else steps.repeatOverTcp(entry, attempt);
  }

  /**
   * The upstream has answered a query with that id, but without a question. It may not understand EDNS. Who forges such
   * a reply need not know the name, and would take EDNS from all questions, so over UDP it is not believed.
   */
  private onHeaderError(socket: QuerySocket, id: number, rcode: number): void {
    const { steps } = this.options;
    const entry = socket.find(id);
    if (entry === undefined) {
      this.onStray(socket, id);
      return;
    }
    const attempt = entry.attemptOf(socket, id);
    if (this.isDone(entry, attempt)) return;
    const upstream = this.upstreamOf(socket);
    if (upstream.isOverTls) return steps.acceptHeaderError(entry, attempt, rcode);
    upstream.counts[UpstreamCount.suspects]++;
    steps.repeatOverTcp(entry, attempt);
  }

  /** The upstream wants its own cookie, and has sent it. Over TCP it does not matter (RFC 7873 §5.3). */
  private onBadCookie(entry: InFlight, attempt: number, socket: QuerySocket): void {
    const { steps } = this.options;
    if (entry.badCookies[attempt]++ === 0) steps.send(entry, attempt, socket);
    else steps.repeatOverTcp(entry, attempt);
  }

  /** No open query gets this answer. Many ids that were never used mean that somebody guesses them. */
  private onStray(socket: QuerySocket, id: number): void {
    const { counts } = this.upstreamOf(socket);
    if (socket.hasUsed(id) && socket.find(id) === undefined) {
      counts[UpstreamCount.late]++;
      return;
    }
    counts[UpstreamCount.strays]++;
    if (socket.hasUsed(id) || ++socket.wrongIds < MAX_WRONG_IDS) return;
    counts[UpstreamCount.spoofs]++;
    this.options.steps.abandon(socket);
  }

  /** The upstream has answered the attempt, whatever it says. @returns true for a probe, which is done with that */
  private isDone(entry: InFlight, attempt: number): boolean {
    const { upstreams, prober } = this.options;
    const nowMs = this.options.nowMs();
    upstreams[entry.upstreams[attempt]].health.recordAnswer(nowMs);
    if (entry.isProbe) prober.onAnswer(entry, attempt, nowMs);
    return entry.isProbe;
  }

  private upstreamOf(socket: QuerySocket): Upstream {
    return this.options.upstreams[socket.upstream];
  }
}

export function isAnswerTo(response: Response, { question }: InFlight): boolean {
  return answersQuestion(response, question.bytes, question.query);
}
