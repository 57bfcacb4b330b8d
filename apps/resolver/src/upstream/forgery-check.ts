import { hasSameCase, type Response } from '@weir/dns-wire';
import type { InFlight } from './in-flight.js';
import type { Upstream } from './upstream.js';

/** Judges answers that have the right address, port, id and question, by their letters and cookies. */
export class ForgeryCheck {
  constructor(
    private readonly response: Response,
    private readonly hasMixedCase: boolean,
  ) {}

  /** Whether `response`, which came over UDP, may be forged. */
  isSuspect(entry: InFlight, attempt: number, upstream: Upstream, nowMs: number): boolean {
    const { cookies } = upstream;
    const hasCookies = cookies !== null && entry.withEdns[attempt] === 1;
    if (hasCookies && cookies.isSuspect(this.response, nowMs)) return true;
    return !this.hasCaseOf(entry) && upstream.keepsCase(nowMs);
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
