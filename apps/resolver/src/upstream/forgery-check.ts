import { hasSameCase, type Response } from '@weir/dns-wire';
import type { InFlight } from './in-flight.js';
import { Trust } from './trust.js';
import type { Upstream } from './upstream.js';

/** Judges answers that have the right address, port, id and question, by their letters and cookies. */
export class ForgeryCheck {
  constructor(
    private readonly response: Response,
    private readonly hasMixedCase: boolean,
  ) {}

  /** Judges `response`, which came over UDP. */
  judge(entry: InFlight, attempt: number, upstream: Upstream, nowMs: number): Trust {
    const { cookies } = upstream;
    const hasCookies = cookies !== null && entry.withEdns[attempt] === 1;
    const trust = hasCookies ? cookies.check(this.response, nowMs) : Trust.good;
    if (trust !== Trust.good || this.hasCaseOf(entry)) return trust;
    return upstream.keepsCase(nowMs) ? Trust.suspect : Trust.good;
  }

  /** `response` has come over TCP, so nobody has forged it: it shows what answers of the upstream are like. */
  learn(entry: InFlight, attempt: number, upstream: Upstream, nowMs: number): void {
    if (!this.hasCaseOf(entry)) upstream.allowAnyCase(nowMs);
    if (entry.withEdns[attempt] === 1) upstream.cookies?.learn(this.response, nowMs);
  }

  private hasCaseOf({ packet, question }: InFlight): boolean {
    const { bytes } = this.response;
    return !this.hasMixedCase || hasSameCase(bytes, packet, question.query.questionEnd);
  }
}
